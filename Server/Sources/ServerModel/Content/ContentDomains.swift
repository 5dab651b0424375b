import Holdfast
package import ServerFoundation

/// The part of challenge answers about hosts that need no pins (`domainsConfig` of the newest clients).
package struct ContentDomains: Sendable, Hashable {
    /// A listed host.
    package struct Domain: Sendable, Hashable {
        /// Its name, in lower case.
        package let name: String
        /// Whether it needs pins.
        package let needsPins: Bool

        /// Makes an entry.
        /// - Throws: ``ServerError`` `invalidValue` for a name that is not short ASCII in lower case.
        package init(name: String, needsPins: Bool) throws(ServerError) {
            guard ContentHost.isName(name.utf8) else {
                throw ServerError(
                    .invalidValue, of: "domains", expected: "host names in lower case, ASCII",
                    found: "another text of \(name.utf8.count) bytes")
            }
            self.name = name
            self.needsPins = needsPins
        }
    }

    /// Whether hosts that are not listed need pins.
    package let unlistedNeedPins: Bool
    /// The hosts, sorted by name.
    package let domains: [Domain]

    /// Makes the list.
    /// - Throws: ``ServerError`` `invalidValue` for a duplicate host.
    package init(unlistedNeedPins: Bool, domains: [Domain]) throws(ServerError) {
        self.unlistedNeedPins = unlistedNeedPins
        self.domains = try Content.sorted(domains, "domains") { Array($0.name.utf8) }
    }

    package var json: CanonicalJSON {
        .object([
            "unlistedNeedPins": .boolean(unlistedNeedPins),
            "domains": .array(
                domains.map { .object(["name": .text($0.name), "needsPins": .boolean($0.needsPins)]) }),
        ])
    }

    /// Reads `{"unlistedNeedPins": true, "domains": [...]}`, as an operator writes it.
    /// - Parameters:
    ///   - bytes: the text.
    ///   - name: the subject of errors.
    /// - Throws: ``ServerError`` `invalidValue`, naming the field, or both lines of a duplicate one.
    package init(_ bytes: [UInt8], named name: String) throws(ServerError) {
        do throws(ServerError) {
            self = try ContentDomains(
                reading: try JSONReader.read(bytes, name, limit: Content.maximumSize), name)
        } catch {
            throw ServerError(
                .invalidValue, of: error.subject ?? name, expected: error.expected, found: error.found,
                remedy: "Correct the file.")
        }
    }

    package init(reading value: CanonicalJSON, _ path: String) throws(ServerError) {
        var fields = try JSONFields(value, path)
        let unlistedNeedPins = try fields.boolean("unlistedNeedPins")
        let domains = try fields.array("domains", atMost: 10_000) { value, path throws(ServerError) in
            var fields = try JSONFields(value, path)
            let name = try fields.text("name", "a host name in lower case, ASCII") {
                ContentHost.isName($0) ? String(decoding: $0, as: UTF8.self) : nil
            }
            let needsPins = try fields.boolean("needsPins")
            try fields.finish()
            return try Domain(name: name, needsPins: needsPins)
        }
        try fields.finish()
        try self.init(unlistedNeedPins: unlistedNeedPins, domains: domains)
    }
}
