/// The languages of `Accept-Language` (RFC 9110 12.5.4), the most wanted first.
struct AcceptedLanguages: Sendable, Hashable {
    /// Tags in lower case, without `*` and without those that are not wanted.
    let tags: [[UInt8]]

    /// More are not looked at; browsers send a handful.
    static let greatestCount = 16
    /// Longer headers count as none.
    static let greatestSize = 512

    /// Reads the header. What is not a language is left out: the header is a wish, and no reason to refuse.
    init(_ header: some Collection<UInt8>) {
        guard header.count <= Self.greatestSize else {
            tags = []
            return
        }
        let parts = Array(header).split(separator: UInt8(ascii: ","), maxSplits: Self.greatestCount).prefix(
            Self.greatestCount)
        let wished = parts.compactMap(Self.language)
        // Of equal weights the first stays first: sorting is stable here because the place decides.
        tags = wished.enumerated().sorted {
            ($1.element.weight, $0.offset) < ($0.element.weight, $1.offset)
        }.map(\.element.tag)
    }

    /// The text that a reader of these languages gets: in the first language for which there is one, where `de-AT` takes
    /// `de` if need be (RFC 4647 3.4), else in English.
    func choose(_ key: String, from texts: [LocalizedText]) -> LocalizedText? {
        let meant = texts.filter { $0.key.utf8.elementsEqual(key.utf8) }
        func text(in language: some Sequence<UInt8>) -> LocalizedText? {
            meant.first { $0.language.utf8.lazy.map(Self.lowercased).elementsEqual(language) }
        }
        for tag in tags {
            var range = tag[...]
            while !range.isEmpty {
                if let found = text(in: range) { return found }
                range = range[..<(range.lastIndex(of: UInt8(ascii: "-")) ?? range.startIndex)]
            }
        }
        return text(in: "en".utf8)
    }

    /// A tag with its weight, in thousandths; nil for weight 0 and for what is none.
    private static func language(_ part: ArraySlice<UInt8>) -> (tag: [UInt8], weight: Int)? {
        let pieces = part.split(separator: UInt8(ascii: ";"), maxSplits: 2).map {
            $0.filter { $0 != 0x20 && $0 != 0x09 }
        }
        guard let tag = pieces.first, LocalizedText.isLanguage(tag), pieces.count <= 2 else { return nil }
        let weight = pieces.count == 2 ? Weight.thousandths(pieces[1]) : 1_000
        guard let weight, weight > 0 else { return nil }
        return (tag.map(lowercased), weight)
    }

    private static func lowercased(_ octet: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(octet) ? octet | 0x20 : octet
    }
}
