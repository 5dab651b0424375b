package import Foundation
import Holdfast
package import HoldfastPublishing
import HoldfastSigning
import ServerFoundation
package import ServerModel
import ServerStore

/// Evaluates the repository of an app for a content: whether it can publish that, and whether its holders have signed
/// exactly what was approved.
package struct RepositoryJudge {
    package let content: Content
    package let files: RepositoryFiles
    package let keys: SealedKeys
    /// The times for which clients continue to use a replaced document.
    package let timing: PublicationTiming
    package let now: Int64

    package init(_ scene: AppSnapshot, _ content: Content) {
        self.content = content
        files = scene.repository
        keys = scene.keys
        timing = scene.app.settings.timing
        now = scene.now
    }

    package var clients: String { "apps that follow the repository \(files.name)" }
    package var date: Date { Date(timeIntervalSince1970: Double(now)) }

    // MARK: The repository

    /// The reasons why the content cannot be published in this repository, no matter who signs; empty if it can.
    package func faults() async -> [String] {
        guard let format = content.repository else { return [] }
        let state: TUFRepositoryState
        do throws(TUFRepositoryError) {
            guard try await files.isThere() else {
                return [
                    "repository: the app has none, so \(clients) would find nothing; begin one: "
                        + "`holdfast-server app repository init \(content.app) --root-key FILE --targets-key FILE "
                        + "--output FOLDER --data DIR`"
                ]
            }
            state = try await files.state()
        } catch {
            return ["repository: \(clients) would get nothing new: \(error)"]
        }
        return faults(of: state, format)
    }

    private func faults(of state: TUFRepositoryState, _ format: ContentFormat) -> [String] {
        var faults: [String] = []
        guard let first = state.firstRoot, Digest(of: first) == format.root else {
            return [
                "repository: \(clients) ship with its first root, \(state.firstRoot.map { "\(Digest(of: $0))" } ?? "none"), and "
                    + "the change names \(format.root.map { "\($0)" } ?? "none")"
            ]
        }
        do throws(TUFRepositoryError) {
            for progress in try state.progress() where progress.role == .root && !progress.isEnough {
                faults.append("repository: \(words(progress))")
            }
        } catch {
            faults.append("repository: \(clients) would refuse what is prepared: \(error)")
        }
        let name = format.application(of: content.app)
        if let live = state.live, let known = (try? PinFile(json: live.pins))?.app, !known.utf8.elementsEqual(name.utf8)
        {
            faults.append(
                "repository: the pins that \(clients) have are of the application \(Self.shown(known)), and those that ask for "
                    + "it refuse pins of \(name)")
        }
        for (role, purpose) in [(TUFRole.snapshot, SealedKey.Purpose.snapshot), (.timestamp, .timestamp)] {
            let own = keys.all.filter { $0.place.purpose == purpose }
                .compactMap { try? TUFPublicKey(der: $0.publicKey) }
            // Check the newest root: after its publication, only the server renews the metadata of clients.
            guard (try? state.lists(own, for: role, in: .newest)) ?? false else {
                faults.append(
                    "repository: the server has no key that the root names for \(role.rawValue): "
                        + "\(clients) would get nothing that it renews")
                continue
            }
        }
        return faults
    }

    private static func shown(_ application: String) -> String {
        ASCIIText.isPrintable(application.utf8, 1...255) ? application : "with another name"
    }

    private func words(_ progress: TUFRepositoryState.Progress) -> String {
        "\(clients) would refuse the next \(progress.role.rawValue): \(progress.signed.count) of \(progress.threshold) "
            + "signatures by the keys of root \(progress.root)"
    }

    // MARK: Signatures of holders

    /// The reasons why the signed metadata is not what was approved, or is incomplete; empty if it can be published.
    package func refusals() async -> [String] {
        guard content.repository != nil else { return [] }
        let state: TUFRepositoryState
        do throws(TUFRepositoryError) {
            state = try await files.state()
        } catch {
            return ["\(clients) would refuse what is prepared: \(error)"]
        }
        guard let pins = state.draftPins ?? state.live?.pins else {
            return ["\(clients) would find nothing: no targets are prepared; app repository draft prepares them"]
        }
        guard state.draftPins != nil || says(pins) else {
            return ["\(clients) would keep the pins of before: no targets are prepared; app repository draft does"]
        }
        var refusals = differences(of: pins).map { "\(clients) would get unapproved pins: \($0)" }
        if let targets = state.draftTargets, let strange = targets.strangeFields {
            refusals.append(
                "\(clients) would get unapproved metadata: "
                    + "targets \(targets.version) has unexpected content: \(strange)")
        }
        refusals += state.refusals(
            at: date, lifetimes: content.repositoryLifetimes(at: now), allowing: [.lifetime]
        ).map { "\(clients) would refuse it: \($0)" }
        do throws(TUFRepositoryError) {
            refusals += try state.progress().filter { !$0.isEnough }.map(words)
        } catch {
            refusals.append("\(clients) would refuse what is prepared: \(error)")
        }
        return refusals + endings(of: state)
    }

    /// Metadata that only holders can sign again must be valid until the last client has requested an update.
    package func endings(of state: TUFRepositoryState) -> [String] {
        let least = Date(timeIntervalSince1970: Double(timing.lastUse(ofReplaced: now)))
        return [state.newestRoot, state.draftTargets ?? state.live?.targets].compactMap(\.self).filter {
            $0.end < least
        }
        .map { file in
            "\(clients) and ask after \(file.end.formatted(.iso8601)) would get nothing: \(file.role.rawValue) "
                + "\(file.version) ends before the \(timing.staleness.components.seconds) s for which they may not ask"
        }
    }

    /// Whether a pin file has the pins of the content.
    package func says(_ pins: Data) -> Bool { differences(of: pins).isEmpty }

    /// The differences between a pin file and the content. Only the time of issue is left to the file's maker.
    package func differences(of pins: Data) -> [String] {
        guard let format = content.repository else { return [] }
        let file: PinFile
        do throws(PinFileError) {
            file = try PinFile(json: pins)
        } catch {
            return ["\(error)"]
        }
        guard let issued = file.issuedAt else { return ["a pin file without issuedAt"] }
        let maker = PinFileMaker(content: content, format: format)
        let approved: [UInt8]
        do throws(ServerError) {
            approved = try maker.pinFile(at: Int64(issued.timeIntervalSince1970))
        } catch {
            return ["\(error)"]
        }
        guard approved != Array(pins) else { return [] }
        let (expected, found) = (Self.hosts(of: Data(approved)), Self.hosts(of: pins))
        let names = Set(expected.keys).union(found.keys).filter { expected[$0] != found[$0] }
        let hosts = names.map { "other pins for \($0)" }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return hosts.isEmpty ? ["a pin file with another app, end or refresh, or spelled in another way"] : hosts
    }

    /// The entry of each host in a pin file, for messages only.
    private static func hosts(of pins: Data) -> [String: Data] {
        guard let object = (try? JSONSerialization.jsonObject(with: pins)) as? [String: Any],
            let hosts = object["hosts"] as? [[String: Any]]
        else { return [:] }
        var all: [String: Data] = [:]
        for host in hosts {
            guard let name = host["host"] as? String, name.utf8.count <= 255 else { continue }
            all[name] = try? JSONSerialization.data(withJSONObject: host, options: .sortedKeys)
        }
        return all
    }
}

extension TUFRepositoryState {
    /// The root that apps ship with; nil if it does not exist yet.
    package var firstRoot: [UInt8]? { (live?.roots.first ?? draftRoot).map { Array($0.data) } }
}

extension TUFMetadataFile {
    /// A field of targets that the server never writes, such as a delegation; nil if there is none.
    package var strangeFields: String? {
        guard let object = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            let signed = object["signed"] as? [String: Any], let targets = signed["targets"] as? [String: Any],
            let pins = targets["pins.json"] as? [String: Any]
        else { return "nothing about pins.json" }
        let levels: [([String: Any], Set<String>)] = [
            (signed, ["_type", "spec_version", "version", "expires", "targets"]), (targets, ["pins.json"]),
            (pins, ["length", "hashes"]),
        ]
        let strange = levels.flatMap { object, known in object.keys.filter { !known.contains($0) } }
        return strange.min { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { String($0.prefix(64)) }
    }
}
