import ServerFoundation
import ServerModel

/// Reads the facts of an entry of the audit.
package struct EntryFacts {
    private let entry: AuditEntry

    init(_ entry: AuditEntry) { self.entry = entry }

    func has(_ name: String) -> Bool { entry.facts[name] != nil }

    func text(_ name: String) throws(ServerError) -> String {
        guard let text = entry.facts[name] else { throw impossible("the fact \(name)") }
        return text
    }

    func number(_ name: String) throws(ServerError) -> Int64 {
        guard let number = LineReader.number(Array(try text(name).utf8)[...]) else {
            throw impossible("a number as \(name)")
        }
        return number
    }

    func digest(_ name: String) throws(ServerError) -> Digest {
        guard let digest = Digest(hex: try text(name).utf8) else { throw impossible("a digest as \(name)") }
        return digest
    }

    func optionalDigest(_ name: String) throws(ServerError) -> Digest? {
        entry.facts[name] == nil ? nil : try digest(name)
    }

    func bytes(_ name: String, count: Int) throws(ServerError) -> [UInt8] {
        guard let bytes = Hex.decode(try text(name).utf8, count: count) else { throw impossible("digits as \(name)") }
        return bytes
    }

    func id(_ name: String) throws(ServerError) -> RandomID {
        guard let id = RandomID(hex: try text(name).utf8) else { throw impossible("an id as \(name)") }
        return id
    }

    func app() throws(ServerError) -> AppName {
        guard let app = AppName(bytes: try text("app").utf8) else { throw impossible("the name of an app") }
        return app
    }

    func optionalApp() throws(ServerError) -> AppName? { entry.facts["app"] == nil ? nil : try app() }

    /// The action on a key.
    func keyAction() throws(ServerError) -> Catalog.KeyAction {
        guard has("action") else { return .made }
        guard let action = Catalog.KeyAction(bytes: try text("action").utf8) else {
            throw impossible("what became of a key")
        }
        return action
    }

    func impossible(_ expected: String) -> ServerError {
        ServerError(
            .brokenChain, of: "audit, entry \(entry.index), \(entry.event.rawValue)", expected: expected,
            found: "something else")
    }
}
