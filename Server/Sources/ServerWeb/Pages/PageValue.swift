/// A value for a template: plain text by name, never markup.
package enum PageValue: Sendable, Hashable {
    /// Text, which may be hostile.
    case text(String)
    /// A number.
    case number(Int64)
    /// Whether a part of the page is present.
    case flag(Bool)
    /// Several values in order.
    case list([PageValue])
    /// Values by name.
    case record([String: PageValue])

    /// Text, or false if it is nil.
    static func optional(_ text: String?) -> PageValue { text.map { .text($0) } ?? .flag(false) }

    /// A value, or false if it is nil.
    static func optional(_ value: PageValue?) -> PageValue { value ?? .flag(false) }

    /// A list of texts.
    static func texts(_ texts: [String]) -> PageValue { .list(texts.map { .text($0) }) }

    /// The value for the template library. Each text is escaped here, once. The library would escape whole characters
    /// only: it misses a quotation mark with a combining accent, which still ends an attribute.
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
    package init(stringLiteral text: String) { self = .text(text) }
}

extension PageValue: ExpressibleByBooleanLiteral {
    package init(booleanLiteral flag: Bool) { self = .flag(flag) }
}

extension PageValue: ExpressibleByArrayLiteral {
    package init(arrayLiteral values: PageValue...) { self = .list(values) }
}

extension PageValue: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral members: (String, PageValue)...) {
        self = .record(Dictionary(members) { first, _ in first })
    }
}
