import Foundation
import Holdfast

/// Reads the calls of `CertificatePinner.Builder` in Kotlin or Java code. Code can compute anything, so everything
/// except a chain of calls with string literals is refused with its line.
struct OkHttpReading {
    private let tokens: [CodeToken]
    private var position = 0
    /// The pins of each pattern, in the order of the code.
    private var patterns: [(pattern: HostPattern, line: Int, hashes: [(text: String, line: Int)])] = []
    private var indexes: [HostPattern: Int] = [:]
    private var readTexts = 0
    /// Names with a dot at the end: OkHttp keeps the dot, and the names that clients dial have none.
    private var unmatched: [PinImport.Domain] = []

    static func domains(in data: Data) throws(PublishingError) -> [PinImport.Domain] {
        var reading = OkHttpReading(tokens: try CodeToken.tokens(of: data))
        try reading.readBuilders()
        return reading.unmatched + reading.domains()
    }

    private init(tokens: [CodeToken]) { self.tokens = tokens }

    private var line: Int { position < tokens.count ? tokens[position].line : tokens.last?.line ?? 1 }

    private mutating func readBuilders() throws(PublishingError) {
        var firstLine: Int?
        while position < tokens.count {
            let start = position
            guard take("CertificatePinner", ".", "Builder", "(", ")") else {
                position = start + 1
                continue
            }
            if let firstLine {
                throw PinImport.failure(
                    "has a second CertificatePinner.Builder() (line \(tokens[start].line)), and the first is on line "
                        + "\(firstLine): each is of another client",
                    remedy: "Import a copy of the file that has only one of them.")
            }
            firstLine = tokens[start].line
            try readChain()
        }
        guard firstLine != nil else { throw PinImport.failure("has no CertificatePinner.Builder()") }
        let all = tokens.filter { token in
            guard case .text(let text?) = token.kind else { return false }
            return text.after(octets: "sha256/") != nil || text.after(octets: "sha1/") != nil
        }
        guard all.count == readTexts else {
            throw PinImport.failure(
                "has pins that are not literal texts of add calls that follow CertificatePinner.Builder()",
                remedy: "Write all of them in one chain of calls, in a copy of the file.")
        }
    }

    private mutating func readChain() throws(PublishingError) {
        while take(".") {
            if take("build", "(", ")") { return }
            guard take("add", "(") else {
                throw PinImport.failure("calls something else than add or build (line \(line))")
            }
            try readPins()
        }
        throw PinImport.failure("keeps the builder of pins elsewhere (line \(line)): calls of add must follow it")
    }

    private mutating func readPins() throws(PublishingError) {
        let start = line
        var texts: [(text: String, line: Int)] = []
        while !take(")") {
            guard position < tokens.count, case .text(let text?) = tokens[position].kind else {
                throw PinImport.failure("has an argument of add that is no literal text (line \(line))")
            }
            texts.append((text, line))
            position += 1
            guard take(",") || tokens.dropFirst(position).first?.kind == .other(")") else {
                throw PinImport.failure("has an argument of add that is no literal text (line \(line))")
            }
        }
        guard let name = texts.first else {
            throw PinImport.failure("has a call of add without a pattern (line \(start))")
        }
        let pattern: HostPattern
        do {
            pattern = try HostPattern(name.text)
        } catch {
            throw PinImport.failure(in: "add", error, line: name.line)
        }
        var hashes: [(text: String, line: Int)] = []
        for pin in texts.dropFirst() {
            guard let hash = pin.text.after(octets: "sha256/") else {
                throw PinImport.failure("has the pin \(pin.text.quoted), which is not SHA-256 (line \(pin.line))")
            }
            readTexts += 1
            hashes.append((hash, pin.line))
        }
        guard !hashes.isEmpty else { throw PinImport.failure("has a pattern without pins (line \(start))") }
        if name.text.utf8.last == UInt8(ascii: ".") {
            unmatched.append(
                PinImport.Domain(
                    field: "add \(name.text.quoted)", line: start, name: name.text, includesSubdomains: false))
        } else if let index = indexes[pattern] {
            patterns[index].hashes += hashes
        } else {
            indexes[pattern] = patterns.count
            patterns.append((pattern, start, hashes))
        }
    }

    /// OkHttp accepts the pins of all patterns that match a host. In a pin file only the most specific entry applies,
    /// so each entry gets the pins of every pattern that covers it.
    private func domains() -> [PinImport.Domain] {
        var domains: [PinImport.Domain] = []
        for entry in patterns {
            domains.append(domain(entry.pattern, entry.line))
            // The domain itself, which `*.` of the parent domain matches as well, but not the names below it.
            let exact = HostPattern(entry.pattern.base)
            if entry.pattern.scope == .subtree, indexes[exact] == nil,
                covering(exact).count > covering(entry.pattern).count
            {
                domains.append(domain(exact, entry.line))
            }
        }
        return domains
    }

    private func domain(_ pattern: HostPattern, _ line: Int) -> PinImport.Domain {
        var domain = PinImport.Domain(
            field: "add \(pattern.description.quoted)", line: line, name: pattern.base.name, includesSubdomains: false,
            pattern: pattern)
        domain.hashes = covering(pattern).sorted().flatMap { patterns[$0].hashes }
        return domain
    }

    /// The patterns that match every host of a pattern, found by its labels, of which there are at most 127.
    private func covering(_ pattern: HostPattern) -> Set<Int> {
        var found = Set([indexes[pattern]].compactMap(\.self))
        var name = pattern.base.name[...]
        var depth = 0
        while true {
            var above = [try? HostPattern("**.\(name)")]
            // A subtree is wider than one label.
            if pattern.scope == .exact, depth == 1 { above.append(try? HostPattern("*.\(name)")) }
            for case let wider? in above { if let index = indexes[wider] { found.insert(index) } }
            guard let dot = name.firstIndex(of: ".") else { return found }
            name = name[name.index(after: dot)...]
            depth += 1
        }
    }

    /// Skips these tokens if they come next; otherwise nothing changes.
    private mutating func take(_ texts: String...) -> Bool {
        guard tokens.dropFirst(position).prefix(texts.count).map(\.kind) == texts.map(CodeToken.Kind.other) else {
            return false
        }
        position += texts.count
        return true
    }
}
