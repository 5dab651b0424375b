package import ServerFoundation
package import ServerModel
package import ServerStore

extension Ledger {
    /// The names of the destinations of an app other than the folder, sorted.
    func placeNames(of app: AppName) -> [String] {
        settings.filter { name, digest in
            name.app == app && name.name.utf8.starts(with: Catalog.placePrefix.utf8) && digest != Catalog.removed
                && !name.name.utf8.elementsEqual(Catalog.folderSetting.utf8)
        }.map { String($0.key.name.dropFirst(Catalog.placePrefix.count)) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension Catalog {
    /// The prefix of a destination's name in the audit.
    fileprivate static let placePrefix = "place "
    /// The name of the folder's address in the audit.
    fileprivate static let folderSetting = placePrefix + Place.folder
    /// The digest that the audit records for a removed setting.
    fileprivate static let removed = Digest(of: [UInt8]())

    /// Sets the address at which clients find the folder, for the documents of an app. All published documents of the
    /// app are read back there.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
    package func set(_ address: FolderAddress, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.keep(address.bytes, as: Place.folder, of: app, by: actor)
        }
    }

    /// Removes the address at which clients find the folder. A document then counts as published once it is in the
    /// folder.
    /// - Throws: ``ServerError`` `notFound`.
    package func removeFolderAddress(of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard try Self.folderAddress(of: app, step.session, step.ledger) != nil else {
                throw ServerError(
                    .notFound, of: "place", expected: "an address of the folder for \(app)", found: "none")
            }
            try step.remove(Place.folder, of: app, by: actor)
        }
    }

    /// The address at which clients find the folder, for the documents of an app; nil if it is not configured.
    /// - Throws: ``ServerError`` `brokenChain` if it is not the address that the audit names.
    package func folderAddress(of app: AppName) async throws(ServerError) -> FolderAddress? {
        try await look { session, ledger throws(ServerError) in try Self.folderAddress(of: app, session, ledger) }
    }

    /// The address at which clients find the folder, for the documents of an app; nil if it is not configured.
    /// - Throws: ``ServerError`` `brokenChain` if it is not the address that the audit names.
    package static func folderAddress(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> FolderAddress? {
        let digest = ledger.settings[.init(app: app, name: folderSetting)]
        guard let digest, digest != removed else { return nil }
        let row = try session.run(
            "SELECT octets FROM place WHERE app = $1 AND name = $2", [.text("\(app)"), .text(Place.folder)]
        ).first
        // Write access to the database must not be enough to choose the address that the server queries.
        let bytes = try row?.bytes(0) ?? []
        try ledger.require(app, folderSetting, bytes)
        return try FolderAddress(bytes)
    }

    /// Adds a destination, or replaces the one with the same name. All published documents of the app are delivered to
    /// it.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
    package func set(_ place: Place, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.keep(place.bytes, as: place.name, of: app, by: actor)
        }
    }

    /// Removes a destination: nothing is delivered to it anymore, and the documents there stay.
    /// - Throws: ``ServerError`` `notFound`.
    package func removePlace(_ name: String, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.placeNames(of: app).contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw ServerError(
                    .notFound, of: "place", expected: "a place of \(app)", found: "another name",
                    remedy: "Name one that `holdfast-server place list \(app) --data DIR` shows.")
            }
            try step.remove(name, of: app, by: actor)
        }
    }

    /// The destinations of an app other than the folder, sorted by name.
    /// - Throws: ``ServerError`` `brokenChain` if they are not those that the audit names.
    package func places(of app: AppName) async throws(ServerError) -> [Place] {
        try await look { session, ledger throws(ServerError) in
            var places: [Place] = []
            for name in ledger.placeNames(of: app) {
                let row = try session.run(
                    "SELECT octets FROM place WHERE app = $1 AND name = $2", [.text("\(app)"), .text(name)]
                ).first
                // Write access to the database must not be enough to choose the program that runs.
                let bytes = try row?.bytes(0) ?? []
                try ledger.require(app, Self.placePrefix + name, bytes)
                places.append(try Place(bytes))
            }
            return places
        }
    }
}

extension Catalog.Step {
    /// Writes a destination, and marks all published documents of the app for delivery to it.
    fileprivate mutating func keep(
        _ bytes: [UInt8], as name: String, of app: AppName, by actor: String
    ) throws(ServerError) {
        let hasDocuments = ledger.documents.contains { $0.app == app && !$1.isWithdrawn }
        let key: [StorageValue] = [.text("\(app)"), .text(name)]
        try session.run("DELETE FROM delivered WHERE app = $1 AND place = $2", key)
        try session.run("DELETE FROM place WHERE app = $1 AND name = $2", key)
        try session.run(
            "INSERT INTO place (app, name, octets, behind_since) VALUES ($1, $2, $3, $4)",
            key + [.bytes(bytes), hasDocuments ? .integer(now) : .null])
        try set(app, Catalog.placePrefix + name, bytes, by: actor)
    }

    fileprivate mutating func remove(_ name: String, of app: AppName, by actor: String) throws(ServerError) {
        let key: [StorageValue] = [.text("\(app)"), .text(name)]
        try session.run("DELETE FROM delivered WHERE app = $1 AND place = $2", key)
        try session.run("DELETE FROM place WHERE app = $1 AND name = $2", key)
        try set(app, Catalog.placePrefix + name, [], by: actor)
    }
}
