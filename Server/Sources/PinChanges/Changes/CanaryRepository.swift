package import ServerFoundation
package import ServerModel
package import ServerStore

/// The repository that an app's canary follows: that of a separate app with the name `APP-canary`.
///
/// A client of The Update Framework rejects older versions, so a canary cannot return to the documents of other
/// clients, and an attacker may serve it anything that its root names (specification 5.3 to 5.6). Therefore no metadata
/// of a canary may be valid under the root of the other clients: its root, versions, holders' signatures and the app in
/// its pin file are separate. To take back an early change, its holders sign another one, as usual.
package struct CanaryRepository: Sendable {
    /// Its name.
    package let app: AppName
    /// Its content; nil before its first publication.
    package let content: Content?
    /// The time since which it has these hosts, in seconds since 1970.
    let since: Int64

    /// Whether it has the hosts of a change.
    package func has(_ change: Content) -> Bool {
        content.map { $0.repository != nil && $0.hosts == change.hosts } ?? false
    }

    /// The reasons why a change of the app waits for its canary; empty if it does not.
    /// - Parameters:
    ///   - content: the content of the change.
    ///   - span: the number of seconds for which the canary must have it.
    func refusals(of content: Content, for span: Int64, at now: Int64) -> [String] {
        guard content.repository != nil else { return [] }
        let path = "repo/\(app)"
        guard let held = self.content, held.repository != nil else {
            return ["the canary \(app) has no repository \(path) yet: publish the same hosts there first"]
        }
        let names = Set(content.hosts + held.hosts).filter {
            content.hosts.contains($0) != held.hosts.contains($0)
        }.map { "\($0.name):\($0.port)" }
        guard names.isEmpty else {
            let list = Set(names).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: ", ")
            return [
                "the canary \(app) follows other pins for \(list) in \(path): publish the same there first, with change "
                    + "propose \(app) --like"
            ]
        }
        guard now < since + span else { return [] }
        return ["the canary \(app) follows it in \(path) until \(UTCText.encode(since + span) ?? "")"]
    }
}

extension Catalog {
    /// The hosts of another app's change as a content of an app: a canary's repository gets what all clients will get.
    /// - Parameters:
    ///   - app: the app.
    ///   - change: the change of the other app.
    ///   - formats: the formats to publish; nil for the current ones.
    /// - Throws: ``ServerError``.
    package func content(
        of app: AppName, like change: RandomID, formats: [ContentFormat]? = nil
    ) async throws(ServerError) -> Content {
        let other = try await self.change(change).content
        let published = try await scene(of: app).published?.formats ?? []
        return try Content(app: app, hosts: other.hosts, formats: formats ?? published, end: other.end)
    }

    /// The repository of an app's canary; nil if no app has its name.
    package static func canaryRepository(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> CanaryRepository? {
        guard let name = AppName(bytes: "\(app)-canary".utf8), let publications = ledger.apps[name] else {
            return nil
        }
        var (newest, since): (Content?, Int64) = (nil, 0)
        for publication in publications.reversed() {
            let content = try content(of: publication, app: name, in: session)
            guard newest.map({ $0.hosts == content.hosts && content.repository != nil }) ?? true else { break }
            newest = newest ?? content
            since = publication.time
        }
        return CanaryRepository(app: name, content: newest, since: since)
    }
}
