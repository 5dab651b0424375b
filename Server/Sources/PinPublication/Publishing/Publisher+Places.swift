import Foundation
import Holdfast
import HoldfastPublishing
package import ServerFoundation
import ServerModel
import ServerStore

extension Publisher {
    /// Maximum number of programs, or of queried addresses, at a time.
    private static let maximumPrograms = 4
    /// Maximum output of a program, in bytes. Output is discarded, and a program with more is broken.
    private static let maximumOutput = 1 << 20

    /// Runs programs that upload pending documents to destinations other than the folder, and reads the documents back
    /// as clients do. A failing destination does not block others, and is tried again after a pause.
    /// - Throws: ``ServerError`` of the database.
    package func deliverToPlaces() async throws(ServerError) -> Delivery {
        var (delivery, waiting): (Delivery, [(app: AppName, place: Place)]) = (Delivery(), [])
        for app in catalog.apps {
            do throws(ServerError) {
                for place in try await catalog.places(of: app) where place.onlyPublisher.map(isThis) ?? true {
                    waiting.append((app, place))
                }
            } catch {
                delivery.problems.append("\(app): \(error)")
            }
        }
        for one in await Self.sideBySide(waiting, { await deliver($0.app, to: $0.place) }) { delivery.add(one) }
        return delivery
    }

    /// Delivers several items at a time, so that a hanging one does not block others.
    static func sideBySide<Item: Sendable>(
        _ items: [Item], _ deliver: @escaping @Sendable (Item) async -> Delivery
    ) async -> [Delivery] {
        await withTaskGroup(of: Delivery.self) { group in
            var (rest, all) = (items[...], [Delivery]())
            func next() {
                guard let item = rest.popFirst() else { return }
                group.addTask { await deliver(item) }
            }
            for _ in 0..<maximumPrograms { next() }
            for await one in group {
                all.append(one)
                next()
            }
            return all
        }
    }

    private func isThis(_ publisher: String) -> Bool { publisher.utf8.elementsEqual(name.utf8) }

    private func deliver(_ app: AppName, to place: Place) async -> Delivery {
        var delivery = Delivery()
        var turn: PlaceTurn?
        do throws(ServerError) {
            guard try await !items(of: app, for: place).isEmpty,
                let taken = try await catalog.turn(at: place.name, of: app, for: place.hold)
            else { return delivery }
            turn = taken
            // Read again: the previous lease holder may have delivered all of it.
            let plan = PlacePlan(try await items(of: app, for: place))
            guard !plan.items.isEmpty else {
                try await catalog.end(taken, delivered: [], isFailed: false)
                return delivery
            }
            try await upload(plan, to: place, in: taken)
            let documents = plan.items.map(\.document)
            let reader = try await publicReader(of: app, at: place.url)
            for document in documents {
                try await enforceReadBack(of: document, &delivery) { () async throws(ServerError) in
                    try await reader.read(document)
                }
            }
            if let file = documents.first(where: reader.isOfRepository) {
                try await enforceReadBack(of: file, &delivery) { () async throws(ServerError) in
                    try await reader.readRepository()
                }
            }
            try await catalog.end(taken, delivered: documents, isFailed: false)
            delivery.confirmed += documents.map { "\(place.name): \($0.path)" }
        } catch {
            delivery.problems.append("\(app), place \(place.name): \(error)")
            // If the lease is lost, its new holder continues.
            if let turn { try? await catalog.end(turn, delivered: [], isFailed: true) }
        }
        return delivery
    }

    /// The documents that clients have not been confirmed to find at a destination.
    private func items(of app: AppName, for place: Place) async throws(ServerError) -> [PlacePlan.Item] {
        try await catalog.look { session, ledger throws(ServerError) in
            var items: [PlacePlan.Item] = []
            for (path, version) in try Catalog.outstanding(of: app, in: place.name, session, ledger) {
                guard let document = try Catalog.newest(path, of: app, session, ledger) else { continue }
                let former = try session.run(
                    "SELECT digest FROM document WHERE app = $1 AND format = $2 AND version < $3 ORDER BY version DESC",
                    [.text("\(app)"), .text(path), .integer(version.version)])
                items.append(
                    PlacePlan.Item(
                        document: document, mediaType: PublicFolder.mediaType(of: path),
                        former: try former.map { row throws(ServerError) in
                            try row.bytes(0) { Digest(bytes: $0) }
                        }))
            }
            return items
        }
    }

    private func upload(_ plan: PlacePlan, to place: Place, in turn: PlaceTurn) async throws(ServerError) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "holdfast-upload-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch {
            throw ServerError(.file, of: folder.path, expected: "a folder that can be made", found: "none")
        }
        try plan.write(to: folder)
        // Right before the upload: an uploader that was suspended finds its lease expired, and starts nothing.
        try await catalog.extend(turn)
        let end = await ProgramRun.run(
            place.program, input: plan.bytes, in: folder, output: .atMost(Self.maximumOutput))
        let found: String
        switch end {
        case .ended(code: 0, _): return
        case .ended(let code, _): found = "exit code \(code)"
        case .signaled(let signal): found = "that signal \(signal) ended it"
        case .printedTooMuch: found = "more than \(Self.maximumOutput) bytes on its standard output"
        case .timedOut: found = "that it took longer than \(place.program.limit) s, and was ended"
        case .notStarted(let reason): found = reason
        }
        throw ServerError(
            .placeProgram, of: place.program.path, expected: "that it uploads, and ends with exit code 0", found: found)
    }
}
