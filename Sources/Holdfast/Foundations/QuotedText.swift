extension String {
    /// For a message: in quotation marks, at most 80 characters, everything but printable ASCII escaped, so that what
    /// an attacker chose cannot forge a line of a log or turn its direction.
    package var quoted: String {
        let limit = 80
        var text = "\""
        for scalar in unicodeScalars.prefix(limit) { text += scalar.escaped(asASCII: true) }
        text += "\""
        return unicodeScalars.count > limit ? text + "…" : text
    }
}
