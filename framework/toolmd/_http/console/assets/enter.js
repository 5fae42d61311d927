// Turn the token of the printed link into a session, and leave no trace of it in the address.

const said = document.getElementById("said");
const token = new URLSearchParams(location.hash.slice(1)).get("token");
history.replaceState(null, "", location.pathname);

if (token) {
  try {
    const answer = await fetch("/api/session", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) {
      location.replace("/");
    } else {
      said.textContent = "This token opens nothing any more: open the link that the terminal shows now.";
    }
  } catch {
    said.textContent = "Nobody answers: is toolmd dev still running?";
  }
} else {
  said.textContent = "The link has lost its token: open it as the terminal shows it.";
}
