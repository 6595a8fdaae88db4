"""Programs, from the request to the verdict. The row is the truth; messages and notifications only wake someone up."""
