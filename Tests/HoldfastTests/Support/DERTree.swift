import HoldfastTesting

@testable import Holdfast

/// DER taken apart, so that a mutant keeps lengths that fit: it gets deeper into a reader than a changed byte does.
struct DERTree {
    private enum Content {
        case primitive([UInt8])
        case constructed([DERTree])
    }

    private var tag: UInt8
    private var content: Content

    init?(_ der: [UInt8]) {
        var reader = DERReader(der)
        guard let element = try? reader.next(), reader.isAtEnd else { return nil }
        self.init(element, of: der)
    }

    private init(_ element: DERReader.Element, of der: [UInt8]) {
        tag = element.tag
        let octets = Array(der[element.content])
        // The DER inside of an `octetString`, such as an extension's value, is taken apart as well.
        if element.tag & 0x20 != 0 || element.tag == DERTag.octetString, let parts = Self.parts(octets), !parts.isEmpty
        {
            content = .constructed(parts)
        } else {
            content = .primitive(octets)
        }
    }

    private static func parts(_ octets: [UInt8]) -> [DERTree]? {
        var reader = DERReader(octets)
        var parts: [DERTree] = []
        while !reader.isAtEnd {
            guard let element = try? reader.next() else { return nil }
            parts.append(DERTree(element, of: octets))
        }
        return parts
    }

    var der: [UInt8] {
        switch content {
        case .primitive(let octets): HandMadeDER.element(tag, octets)
        case .constructed(let parts): HandMadeDER.element(tag, parts.flatMap(\.der))
        }
    }

    private var size: Int {
        if case .constructed(let parts) = content { 1 + parts.reduce(0) { $0 + $1.size } } else { 1 }
    }

    private func node(_ number: Int) -> DERTree {
        guard number > 0, case .constructed(let parts) = content else { return self }
        var rest = number - 1
        for part in parts {
            if rest < part.size { return part.node(rest) }
            rest -= part.size
        }
        return self
    }

    /// Changes one element: its tag, its content, its place, or puts one of another certificate there.
    mutating func mutate(from donor: DERTree, using generator: inout SplitMix64) {
        let replacement = donor.node(Int.random(in: 0..<donor.size, using: &generator))
        change(Int.random(in: 0..<size, using: &generator), to: replacement, using: &generator)
    }

    private mutating func change(_ number: Int, to replacement: DERTree, using generator: inout SplitMix64) {
        if number > 0, case .constructed(var parts) = content {
            var rest = number - 1
            for place in parts.indices {
                if rest < parts[place].size {
                    parts[place].change(rest, to: replacement, using: &generator)
                    break
                }
                rest -= parts[place].size
            }
            content = .constructed(parts)
            return
        }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: tag ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case 1: self = replacement
        case 2: content = replacement.content
        case 3: content = .primitive([])
        default: changeContent(using: &generator)
        }
    }

    private mutating func changeContent(using generator: inout SplitMix64) {
        switch content {
        case .primitive(var octets):
            let place = Int.random(in: 0...octets.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0 where place < octets.count: octets[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 1 where place < octets.count: octets.remove(at: place)
            case 2: octets.insert(UInt8.random(in: 0...255, using: &generator), at: place)
            default: octets = Array(octets.prefix(place))
            }
            content = .primitive(octets)
        case .constructed(var parts):
            let place = Int.random(in: 0..<parts.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: parts.remove(at: place)
            case 1: parts.insert(parts[place], at: place)
            case 2: parts.shuffle(using: &generator)
            default: parts.swapAt(place, Int.random(in: 0..<parts.count, using: &generator))
            }
            content = .constructed(parts)
        }
    }
}
