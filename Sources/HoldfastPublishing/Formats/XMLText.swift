/// Writes untrusted texts as XML.
enum XMLText {
    /// The content of an element.
    static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
    }

    /// A comment on one line; the text has no line breaks.
    ///
    /// Two hyphens end a comment or make it invalid (XML 1.0 2.5), and names come from strangers.
    static func comment(_ text: String) -> String {
        var safe = String.UnicodeScalarView()
        // It works on scalars: a hyphen with a combining character is one `Character` that is not equal to "-".
        for scalar in text.unicodeScalars {
            if scalar == "-", safe.last == "-" { safe.append(" ") }
            safe.append(scalar)
        }
        return "<!-- \(String(safe)) -->"
    }
}
