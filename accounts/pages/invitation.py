"""The link of an invitation."""

from django import forms
from django.contrib.auth import login
from django.contrib.auth.password_validation import password_validators_help_texts, validate_password
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts import invitations
from accounts.addresses import clean_name
from accounts.models import Invitation, User
from accounts.rates import SIGN_IN_TRIES, per_address


class WelcomeForm(forms.Form):
    name = forms.CharField(label="Your name", max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    password = forms.CharField(
        max_length=1_000,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=" ".join(password_validators_help_texts()),
    )

    def __init__(self, *args: object, email: str, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.email = email

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        validate_password(password, User(email=self.email, name=self.data.get("name", "")))
        return password


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@per_address("invitation", SIGN_IN_TRIES)
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What the link does depends on who has the address: nobody yet, the one who is signed in, or somebody else."""
    try:
        found = invitations.find(token)
        if invitations.person_of(found) is None:
            return _welcome(request, token, found)
        return _join(request, token, found)
    except invitations.InvitationIsOver:
        return render(request, "site/invitation_over.html", status=410)


def _welcome(request: HttpRequest, token: str, found: Invitation) -> HttpResponse:
    form = WelcomeForm(request.POST if request.method == "POST" else None, email=found.email)
    if form.is_bound and form.is_valid():
        asked = form.cleaned_data
        try:
            user = invitations.accept_as_new(token, name=asked["name"], password=asked["password"])
        except ValidationError as error:
            form.add_error("password", error)
        except invitations.AnotherPerson:  # made at this very moment by the same link
            return redirect("invitation", token)
        else:
            login(request, user)
            return redirect("welcome")
    context = {"form": form, "invitation": found}
    return render(request, "site/invitation.html", context, status=400 if form.is_bound else 200)


def _join(request: HttpRequest, token: str, found: Invitation) -> HttpResponse:
    is_theirs = isinstance(request.user, User) and request.user.email.lower() == found.email.lower()
    if request.method == "POST" and is_theirs:
        assert isinstance(request.user, User)
        invitations.accept_as(token, request.user)
        request.session["account"] = found.account_id
        return redirect("dashboard")
    return render(request, "site/invitation_join.html", {"invitation": found, "is_theirs": is_theirs})
