"""Requesting beta access. Spam is kept out without asking anybody else: a trap, a time stamp, and a rate."""

from datetime import timedelta
from typing import Any

from django import forms
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from accounts import beta
from accounts.addresses import MAX_LENGTH, clean_address, clean_name
from accounts.rates import MAILS, per_address

_SIGNER = TimestampSigner(salt="beta")
# Programs fill in a form at once, or send one that they saw days ago.
_FASTEST = timedelta(seconds=1)
_SLOWEST = timedelta(days=1)


class BetaForm(forms.Form):
    name = forms.CharField(max_length=100, widget=forms.TextInput(attrs={"autocomplete": "name"}))
    email = forms.CharField(
        label="E-mail", max_length=MAX_LENGTH, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    organisation = forms.CharField(
        max_length=100, required=False, widget=forms.TextInput(attrs={"autocomplete": "organization"})
    )
    purpose = forms.CharField(
        label="What do you want to evaluate?",
        max_length=2_000,
        widget=forms.Textarea(attrs={"rows": 5}),
        help_text="Models, languages, how many runs: it helps us to say yes.",
    )
    # People do not see this one, and leave it empty.
    website = forms.CharField(required=False, widget=forms.TextInput(attrs={"autocomplete": "off", "tabindex": "-1"}))
    opened = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean_name(self) -> str:
        return clean_name(self.cleaned_data["name"])

    def clean_organisation(self) -> str:
        return clean_name(self.cleaned_data["organisation"])

    def clean_email(self) -> str:
        return clean_address(self.cleaned_data["email"])

    def clean_purpose(self) -> str:
        text: str = self.cleaned_data["purpose"]
        return text.replace("\0", "")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        try:
            opened = cleaned.get("opened", "")
            _SIGNER.unsign(opened, max_age=_SLOWEST)
        except BadSignature:
            raise forms.ValidationError("The form has expired. Nothing is lost: please send it once more.") from None
        try:
            _SIGNER.unsign(opened, max_age=_FASTEST)
        except BadSignature:
            return cleaned
        raise forms.ValidationError("That was very quick. Nothing is lost: please send it once more.")


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@per_address("beta", MAILS)
def beta_request(request: HttpRequest) -> HttpResponse:
    form = BetaForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        asked = form.cleaned_data
        if not asked["website"]:
            beta.ask(
                name=asked["name"],
                email=asked["email"],
                organisation=asked["organisation"],
                purpose=asked["purpose"],
            )
        return redirect("beta-received")
    # A new stamp each time: whoever corrects a field must not be told that the form has expired.
    status = 400 if form.is_bound else 200
    return render(request, "site/beta.html", {"form": form, "opened": _SIGNER.sign("form")}, status=status)


@require_safe
def beta_received(request: HttpRequest) -> HttpResponse:
    return render(request, "site/beta_received.html")
