/// What a template shows: text by its names, and nothing that is markup.
enum PageValue: Sendable, Hashable {
    /// Text, however hostile.
    case text(String)
    /// A number.
    case number(Int64)
    /// Whether a part of the page is there.
    case flag(Bool)
    /// One after another.
    case list([PageValue])
    /// What is inside, by name.
    case record([String: PageValue])

    /// Text, or nothing in its place.
    static func optional(_ text: String?) -> PageValue { text.map { .text($0) } ?? .flag(false) }

    /// What is inside, or nothing in its place.
    static func optional(_ value: PageValue?) -> PageValue { value ?? .flag(false) }

    /// A text for each.
    static func texts(_ texts: [String]) -> PageValue { .list(texts.map { .text($0) }) }

    /// What the library reads. Each text is escaped here, once: the library escapes characters, and a quotation mark
    /// with an accent upon it is another character than a quotation mark, but ends an attribute all the same.
    var markup: any Sendable {
        switch self {
        case .text(let text): PageText.escaped(text)
        case .number(let number): String(number)
        case .flag(let flag): flag
        case .list(let values): values.map(\.markup)
        case .record(let members): members.mapValues(\.markup)
        }
    }
}

extension PageValue: ExpressibleByStringInterpolation {
    init(stringLiteral text: String) { self = .text(text) }
}

extension PageValue: ExpressibleByBooleanLiteral {
    init(booleanLiteral flag: Bool) { self = .flag(flag) }
}

extension PageValue: ExpressibleByArrayLiteral {
    init(arrayLiteral values: PageValue...) { self = .list(values) }
}

extension PageValue: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral members: (String, PageValue)...) {
        self = .record(Dictionary(members) { first, _ in first })
    }
}
