extension Ledger {
    /// The names of the places to which documents of an app go besides the folder, sorted.
    func placeNames(of app: AppName) -> [String] {
        settings.filter { name, digest in
            name.app == app && name.name.utf8.starts(with: Catalog.placePrefix.utf8) && digest != Catalog.removed
                && !name.name.utf8.elementsEqual(Catalog.folderSetting.utf8)
        }.map { String($0.key.name.dropFirst(Catalog.placePrefix.count)) }
            .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }
}

extension Catalog {
    /// The folder of the server, to which all documents go.
    static let folderPlace = "folder"
    /// What the audit calls a place, before its name.
    fileprivate static let placePrefix = "place "
    /// What the audit calls where clients find the folder.
    fileprivate static let folderSetting = placePrefix + folderPlace
    /// What the audit has in the place of a setting that is gone.
    fileprivate static let removed = Digest(of: [UInt8]())

    /// Says where clients find the folder, for the documents of an app. All that is published of it is read back there.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
    public func set(_ address: FolderAddress, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.keep(address.bytes, as: Self.folderPlace, of: app, by: actor)
        }
    }

    /// Forgets where clients find the folder: what is written there counts once it is there.
    /// - Throws: ``ServerError`` `notFound`.
    public func removeFolderAddress(of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard try Self.folderAddress(of: app, step.session, step.ledger) != nil else {
                throw ServerError(
                    .notFound, of: "place", expected: "an address of the folder for \(app)", found: "none")
            }
            try step.remove(Self.folderPlace, of: app, by: actor)
        }
    }

    /// Where clients find the folder, for the documents of an app; nil if nobody has said.
    /// - Throws: ``ServerError`` `brokenChain` if it is not the address that the audit names.
    public func folderAddress(of app: AppName) async throws(ServerError) -> FolderAddress? {
        try await look { session, ledger throws(ServerError) in try Self.folderAddress(of: app, session, ledger) }
    }

    /// Where clients find the folder, for the documents of an app; nil if nobody has said.
    /// - Throws: ``ServerError`` `brokenChain` if it is not the address that the audit names.
    static func folderAddress(
        of app: AppName, _ session: any StorageSession, _ ledger: Ledger
    ) throws(ServerError) -> FolderAddress? {
        let digest = ledger.settings[.init(app: app, name: folderSetting)]
        guard let digest, digest != removed else { return nil }
        let row = try session.run(
            "SELECT octets FROM place WHERE app = $1 AND name = $2", [.text("\(app)"), .text(folderPlace)]
        ).first
        // Whoever can write to the database must not choose what is asked.
        let bytes = try row?.bytes(0) ?? []
        try ledger.require(app, folderSetting, bytes)
        return try FolderAddress(bytes)
    }

    /// Adds a place, or replaces the one of its name. All that is published of the app goes there from now on.
    /// - Throws: ``ServerError`` `notFound` for an app that does not exist.
    public func set(_ place: Place, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            try step.requireApp(app)
            try step.keep(place.bytes, as: place.name, of: app, by: actor)
        }
    }

    /// Removes a place: nothing goes there anymore, and what is there stays.
    /// - Throws: ``ServerError`` `notFound`.
    public func removePlace(_ name: String, of app: AppName, by actor: String) async throws(ServerError) {
        try await transact { step throws(ServerError) in
            guard step.ledger.placeNames(of: app).contains(where: { $0.utf8.elementsEqual(name.utf8) }) else {
                throw ServerError(
                    .notFound, of: "place", expected: "a place of \(app)", found: "another name",
                    remedy: "Name one that `holdfast-server place list \(app) --data DIR` shows.")
            }
            try step.remove(name, of: app, by: actor)
        }
    }

    /// The places to which documents of an app go besides the folder, sorted by name.
    /// - Throws: ``ServerError`` `brokenChain` if they are not those that the audit names.
    public func places(of app: AppName) async throws(ServerError) -> [Place] {
        try await look { session, ledger throws(ServerError) in
            var places: [Place] = []
            for name in ledger.placeNames(of: app) {
                let row = try session.run(
                    "SELECT octets FROM place WHERE app = $1 AND name = $2", [.text("\(app)"), .text(name)]
                ).first
                // Whoever can write to the database must not choose what runs.
                let bytes = try row?.bytes(0) ?? []
                try ledger.require(app, Self.placePrefix + name, bytes)
                places.append(try Place(bytes))
            }
            return places
        }
    }
}

extension Catalog.Step {
    /// Writes what is known of a place, and has everything that is published of the app go there once more.
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
