"""Addresses for people. allauth's views stand at addresses of ours, under the names by which it finds them."""

from allauth.account import views as account
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as totp
from django.urls import path, re_path
from django.views.generic import RedirectView

from accounts.pages import account as own
from accounts.pages import beta, invitation, keys, members
from accounts.rates import MAILS, SIGN_IN_TRIES, per_address

tries = per_address("sign-in", SIGN_IN_TRIES)
mails = per_address("mails", MAILS)

urlpatterns = [
    path("beta", beta.beta_request, name="beta"),
    path("beta/received", beta.beta_received, name="beta-received"),
    path("invitations/<str:token>", invitation.invitation, name="invitation"),
    # Coming in.
    path("sign-in", tries(account.login), name="account_login"),
    path("sign-in/second-factor", tries(mfa.authenticate), name="mfa_authenticate"),
    path("sign-in/again", tries(account.reauthenticate), name="account_reauthenticate"),
    path("sign-in/again/second-factor", tries(mfa.reauthenticate), name="mfa_reauthenticate"),
    path("sign-in/inactive", account.account_inactive, name="account_inactive"),
    path("sign-out", account.logout, name="account_logout"),
    path("sign-up", RedirectView.as_view(pattern_name="beta"), name="account_signup"),
    path("e-mail", account.email_verification_sent, name="account_email_verification_sent"),
    path("e-mail/<str:key>", account.confirm_email, name="account_confirm_email"),
    path("password", mails(account.password_reset), name="account_reset_password"),
    path("password/sent", account.password_reset_done, name="account_reset_password_done"),
    re_path(
        r"^password/set/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>[-\w]+)$",
        tries(account.password_reset_from_key),
        name="account_reset_password_from_key",
    ),
    path("password/done", account.password_reset_from_key_done, name="account_reset_password_from_key_done"),
    path("password/change", tries(account.password_change), name="account_change_password"),
    path("password/first", account.password_set, name="account_set_password"),
    path("second-factor", mfa.index, name="mfa_index"),
    path("second-factor/on", totp.activate_totp, name="mfa_activate_totp"),
    path("second-factor/off", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path("second-factor/codes", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path("second-factor/codes/new", recovery.generate_recovery_codes, name="mfa_generate_recovery_codes"),
    path("second-factor/codes/file", recovery.download_recovery_codes, name="mfa_download_recovery_codes"),
    # An account.
    path("dashboard/welcome", own.welcome, name="welcome"),
    path("dashboard/account", own.account, name="account"),
    path("dashboard/account/name", own.rename, name="rename-account"),
    path("dashboard/account/choose", members.choose, name="choose-account"),
    path("dashboard/keys", keys.key_list, name="keys"),
    path("dashboard/keys/new", keys.make, name="make-key"),
    path("dashboard/keys/<int:key_id>/rotate", keys.rotate, name="rotate-key"),
    path("dashboard/keys/<int:key_id>/revoke", keys.revoke, name="revoke-key"),
    path("dashboard/members", members.member_list, name="members"),
    path("dashboard/members/invite", members.invite, name="invite"),
    path("dashboard/members/<int:user_id>/role", members.change_role, name="change-role"),
    path("dashboard/members/<int:user_id>/remove", members.remove, name="remove-member"),
    path("dashboard/invitations/<int:invitation_id>/withdraw", members.withdraw, name="withdraw-invitation"),
]
