"""Outbound webhooks: tell an account's servers what has ended. Theory of operation:

    a run ends ──same transaction──► `outbox`: one `Delivery` for each endpoint that wants the event
    wake-up or beat ──► `courier`: claims what is due, by a lease ──► `outgoing`: one signed POST to a public address
                                                                 ──► delivered, or due again later, or given up

The row is the truth: with Redis away nothing is lost, and a courier that dies in the middle leaves a lease that runs
out. So an event may arrive twice, always with the same `webhook-id`; it never gets lost within a day.

No body is stored. What has ended no longer changes, so the body is made from it each time, and what a customer erases
is erased from here as well.
"""
