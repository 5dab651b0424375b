/// A pattern for names of targets (section 4.5): `*` matches any characters, `?` matches one, and `[…]` matches one of
/// a set. None of them matches a slash.
struct PathPattern {
    private enum Token {
        case any, one
        case character(Unicode.Scalar)
        case set([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func accepts(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .any: false
            case .one: true
            case .character(let character): character == scalar
            case .set(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
            }
        }

        var isAny: Bool {
            if case .any = self { return true }
            return false
        }
    }

    private let parts: [[Token]]

    init(_ octets: [UInt8]) {
        parts = Self.parts(octets[...]).map(Self.tokens)
    }

    /// Splits a name at its slashes.
    static func parts(_ octets: ArraySlice<UInt8>) -> [[Unicode.Scalar]] {
        octets.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { Array(String(decoding: $0, as: UTF8.self).unicodeScalars) }
    }

    /// - Parameter name: the parts of a target's name.
    func matches(_ name: [[Unicode.Scalar]], meter: WorkMeter) throws(TUFError) -> Bool {
        guard name.count == parts.count else { return false }
        for (text, tokens) in zip(name, parts) {
            guard try Self.matches(text, tokens, meter) else { return false }
        }
        return true
    }

    /// Backtracks only to the last star: the last star can match everything that an earlier star could match.
    private static func matches(
        _ text: [Unicode.Scalar], _ tokens: [Token], _ meter: WorkMeter
    ) throws(TUFError) -> Bool {
        var (position, token) = (0, 0)
        var star: (token: Int, position: Int)?
        var steps = 0
        while position < text.count {
            steps += 1
            if steps == 1_000 {
                try meter.matched(steps: steps)
                steps = 0
            }
            if token < tokens.count, tokens[token].isAny {
                star = (token, position)
                token += 1
            } else if token < tokens.count, tokens[token].accepts(text[position]) {
                position += 1
                token += 1
            } else if let last = star {
                star = (last.token, last.position + 1)
                position = last.position + 1
                token = last.token + 1
            } else {
                try meter.matched(steps: steps)
                return false
            }
        }
        try meter.matched(steps: steps)
        return tokens[token...].allSatisfy(\.isAny)
    }

    private static func tokens(_ part: [Unicode.Scalar]) -> [Token] {
        var tokens: [Token] = []
        var position = 0
        while position < part.count {
            switch part[position] {
            case "*":
                if tokens.last?.isAny != true { tokens.append(.any) }
            case "?": tokens.append(.one)
            case "[":
                if let (set, end) = set(in: part, at: position) {
                    tokens.append(set)
                    position = end
                } else {
                    tokens.append(.character("["))
                }
            case let scalar: tokens.append(.character(scalar))
            }
            position += 1
        }
        return tokens
    }

    /// An unclosed bracket matches itself. The first character of a set may be a closing bracket.
    private static func set(in part: [Unicode.Scalar], at start: Int) -> (Token, end: Int)? {
        var first = start + 1
        let isNegated = first < part.count && part[first] == "!"
        if isNegated { first += 1 }
        guard first < part.count, let end = part[(first + 1)...].firstIndex(of: "]") else { return nil }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        var position = first
        while position < end {
            if position + 2 < end, part[position + 1] == "-" {
                if part[position] <= part[position + 2] { ranges.append(part[position]...part[position + 2]) }
                position += 3
            } else {
                ranges.append(part[position]...part[position])
                position += 1
            }
        }
        return (.set(ranges, isNegated: isNegated), end)
    }
}
