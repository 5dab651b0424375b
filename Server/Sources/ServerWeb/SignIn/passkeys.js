// What pages need a script for: a browser hands passkeys to nothing else. Everything that this decides, the server decides
// again. A button says what it is for:
//
//   <button type="button" data-passkey="sign-in">
//   <button type="button" data-passkey="register" data-path="/invitation/ID">
//   <button type="button" data-passkey="approve" data-path="/changes/APP/ID/approve" data-csrf="…">, and reject
//   <button type="button" data-passkey="statement" data-csrf="…" data-text="#statement" data-result="#signature">
//
// data-next is the page that comes then; data-text is the field with a statement of approvers, and data-result the
// element that gets the signature. What goes wrong stands in the element with data-passkey-words, as text.
"use strict";

(() => {
    // What the server says itself, which people may read.
    class Refusal extends Error {}

    const decode = (text) =>
        Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
    const encode = (buffer) =>
        btoa(Array.from(new Uint8Array(buffer), (octet) => String.fromCharCode(octet)).join(""))
            .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

    const say = (words) => {
        for (const element of document.querySelectorAll("[data-passkey-words]")) element.textContent = words;
    };

    const call = async (path, body) => {
        const response = await fetch(path, {
            method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
            credentials: "same-origin", redirect: "error", cache: "no-store",
        });
        const answer = await response.json();
        if (!response.ok) throw new Refusal(`Expected ${answer.expected}, found ${answer.found}. ${answer.remedy}`);
        return answer;
    };

    const make = async (asked) => {
        const isApproval = asked.purpose === "approval";
        const name = isApproval ? `${asked.person}, approvals` : asked.person;
        const made = await navigator.credentials.create({
            publicKey: {
                challenge: decode(asked.challenge), rp: { id: asked.party, name: "Holdfast" },
                user: { id: decode(asked.user), name, displayName: name },
                pubKeyCredParams: asked.algorithms.map((alg) => ({ type: "public-key", alg })),
                timeout: asked.milliseconds, attestation: "none",
                // A sign-in names no passkey, so the authenticator must find it. An approval names those it allows.
                authenticatorSelection: {
                    userVerification: "required", residentKey: isApproval ? "discouraged" : "required",
                },
            },
        });
        return {
            attestationObject: encode(made.response.attestationObject),
            clientDataJSON: encode(made.response.clientDataJSON),
        };
    };

    const use = async (asked) => {
        const used = await navigator.credentials.get({
            publicKey: {
                challenge: decode(asked.challenge), rpId: asked.party, timeout: asked.milliseconds,
                userVerification: "required",
                allowCredentials: (asked.allow ?? []).map((id) => ({ type: "public-key", id: decode(id) })),
            },
        });
        return {
            credential: encode(used.rawId), authenticatorData: encode(used.response.authenticatorData),
            clientDataJSON: encode(used.response.clientDataJSON), signature: encode(used.response.signature),
        };
    };

    const signIn = async () => {
        const asked = await call("/signin/begin", {});
        return { next: (await call("/signin/finish", await use(asked))).location };
    };

    const register = async (button) => {
        // The token stands behind the number sign, which browsers send nowhere.
        const token = location.hash.slice(1);
        const asked = await call(`${button.dataset.path}/begin`, { token });
        const made = await call(`${button.dataset.path}/finish`, { token, ...await make(asked) });
        history.replaceState(null, "", location.pathname);
        return { words: `${made.person} has a passkey. The digest of its key, for the approvers: ${made.passkey}` };
    };

    const decide = async (button) => {
        const csrf = button.dataset.csrf;
        const asked = await call(`${button.dataset.path}/begin`, { csrf });
        await call(`${button.dataset.path}/finish`, { csrf, text: asked.text, ...await use(asked) });
        return { next: location.pathname };
    };

    const sign = async (button) => {
        const csrf = button.dataset.csrf;
        // Forms write line ends of their own.
        const statement = document.querySelector(button.dataset.text).value.replaceAll("\r\n", "\n").trim() + "\n";
        const asked = await call("/approvers/sign/begin", { csrf, statement });
        const answer = await call("/approvers/sign/finish", { csrf, statement, ...await use(asked) });
        document.querySelector(button.dataset.result).textContent = answer.signature;
        return { words: "Signed. Save the line as a file, for approvers replace." };
    };

    const deeds = {
        "sign-in": signIn, "register": register, "approve": decide, "reject": decide, "statement": sign,
    };

    const begin = async (button) => {
        button.disabled = true;
        say("");
        try {
            if (!window.PublicKeyCredential) throw new Refusal("This browser, or this address, knows no passkeys.");
            const done = await deeds[button.dataset.passkey](button);
            const next = button.dataset.next ?? done.next;
            if (next) location.assign(next);
            else say(done.words);
        } catch (error) {
            const isOfBrowser = error instanceof DOMException;
            const usual = isOfBrowser ? "The passkey was not used." : "The server gave no answer that can be read.";
            say(error instanceof Refusal ? error.message : usual);
        } finally {
            button.disabled = false;
        }
    };

    for (const button of document.querySelectorAll("button[data-passkey]")) {
        button.addEventListener("click", () => begin(button));
    }
})();
