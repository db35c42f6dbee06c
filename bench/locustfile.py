"""What Locust is told: each user asks for the host's URL, again and again, without a pause."""

from locust import FastHttpUser, task


class Visitor(FastHttpUser):
    @task
    def page(self) -> None:
        self.client.get(self.host, name="page")
