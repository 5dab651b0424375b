import Foundation
import Holdfast
import HoldfastPublishing
import HoldfastSigning

/// The published pins in which a change of keys is prepared: a pin file, or a signed list.
struct RolloverDocument: Sendable {
    /// A host to ask, and what clients require of it.
    struct Subject: Sendable {
        let host: DialedHost
        fileprivate let pins: PinSet
        /// The entry of a pin file; nil for a list.
        fileprivate let entry: PinFile.Host?
    }

    private enum Content {
        case file(PinFile)
        case list(FingerprintList)
    }

    private let content: Content
    /// When the document says that it was made.
    let issued: Date?
    /// For how many seconds clients may use an older document, according to the document or to what clients of its kind
    /// do; nil for a file that apps ship.
    let staleness: TimeInterval?

    /// Reads a pin file, or a list that is signed with a key.
    init(_ path: String, key: DocumentPublicKey?) throws(CommandFailure) {
        let data = try InputFile.content(of: path, maximumBytes: max(8 << 20, DocumentLimits().bytes + 1))
        guard let key else {
            let file = try PinFileReading.pinFile(
                data, named: path, remedies: [.signedList: "Give the signer's public key with --public-key."])
            content = .file(file)
            issued = file.issuedAt
            staleness = file.refresh.map { Double($0.after) * (1 + $0.jitter.value) }
            return
        }
        do throws(DocumentError) {
            content = .list(try FingerprintList(verifying: data, with: key))
            issued = nil
            staleness = UpdateSchedule().periodicInterval.inSeconds
        } catch {
            throw CommandFailure(.invalidList, "\(path) does not verify: \(error)")
        }
    }

    /// Whether the document pins certificates: a list does, a pin file pins keys.
    var pinsCertificates: Bool { if case .list = content { true } else { false } }

    /// All hosts that can be asked, in the order of the document, and the patterns that cannot be dialed.
    func subjects(at time: Date) throws -> (hosts: [Subject], patterns: [String]) {
        let places: [PublishedPins.Place] =
            switch content {
            case .file(let file): PublishedPins.places(of: file)
            case .list(let list): list.entries.map { .init(name: $0.name, port: nil) }
            }
        var hosts: [DialedHost] = []
        var patterns: [String] = []
        for place in places {
            guard let host = try? DialedHost(place.name, port: place.port ?? ServerAddress.defaultPort) else {
                if !patterns.contains(where: { $0.utf8.elementsEqual(place.name.utf8) }) { patterns.append(place.name) }
                continue
            }
            if !hosts.contains(host) { hosts.append(host) }
        }
        return (try hosts.map { try subject($0, at: time) }, patterns)
    }

    /// A host, with the pins that decide about it.
    /// - Throws: if there are none.
    func subject(_ host: DialedHost, at time: Date) throws(CommandFailure) -> Subject {
        let question = PinQuestion(host: host, time: time)
        switch content {
        case .file(let file):
            let dialed = host.port == nil ? try? DialedHost(host.name, port: ServerAddress.defaultPort) : host
            let asked = PinQuestion(host: dialed ?? host, time: time)
            guard case .required(let pins) = file.answer(to: asked).content else {
                throw CommandFailure(.invalidList, "the pin file has no pins of \(host)")
            }
            return Subject(host: host, pins: pins, entry: file.host(for: host))
        case .list(let list):
            switch FingerprintListPins(list).answer(to: question).content {
            case .required(let pins): return Subject(host: host, pins: pins, entry: nil)
            // Clients know the host, but have no valid pin for it.
            case .none(.expired, _): return Subject(host: host, pins: PinSet(known: []), entry: nil)
            case .none, .exempt: throw CommandFailure(.invalidList, "the list has no entry of \(host) that counts")
            }
        }
    }
}

extension RolloverDocument.Subject {
    /// The state of the host after its servers were asked.
    /// - Parameters:
    ///   - paths: the validated paths, one or more for each server.
    ///   - refusals: why chains that servers showed are not valid.
    ///   - next: what will be deployed, with key pins and certificate pins.
    func state(
        paths: [ValidatedPath], refusals: [String], next: [PinEntry], published: Date, staleness: TimeInterval?,
        at now: Date
    ) -> RolloverState {
        var state = RolloverState(pins: [], refusals: refusals, published: published, staleness: staleness)
        state.certificateEnd = paths.compactMap(\.leaf?.notAfter).min()
        state.pinsCertificates = entry == nil
        state.next = next.compactMap { try? Pin(entry == nil ? $0.certificatePin ?? "" : $0.keyPin) }
        let counting = pins.rules.filter { !$0.isOnTrial && $0.counts(at: now) }
        let served = counting.filter { rule in
            paths.contains { PinSet(known: [rule]).match(in: $0, at: now) != nil }
        }
        for rule in counting where !state.pins.contains(where: { $0.pin == rule.pin }) {
            let isServed = served.contains { $0.pin == rule.pin }
            state.pins.append(
                .init(pin: rule.pin, isRetiring: isRetiring(rule, isServed, served), isServed: isServed))
        }
        for path in paths {
            guard let match = pins.match(in: path, at: now) else {
                if !letsEverybodyIn(at: now) { state.refusals.append(Self.refusal(path)) }
                continue
            }
            // An entry of a list that ends together with its certificate does not matter here: it will be replaced with
            // the certificate. Its last second is the one that people know.
            let last = entry == nil ? match.holdsUntil.addingTimeInterval(-1) : match.holdsUntil
            if entry != nil || last < path.leaf?.notAfter ?? .distantFuture { state.note(last) }
        }
        return state
    }

    /// Whether a pin will be removed: in a pin file it is marked so, in a list its certificate ends before those in use.
    private func isRetiring(_ rule: PinRule, _ isServed: Bool, _ served: [PinRule]) -> Bool {
        if let entry { return entry.pins.contains { $0.pin == rule.pin && $0.state == .retiring } }
        return !isServed && served.map(\.end).max().map { rule.end < $0 } ?? false
    }

    /// A host in report mode lets clients in that find no pin, and so does one whose pins have expired if its entry says
    /// so.
    private func letsEverybodyIn(at now: Date) -> Bool {
        pins.enforcement == .reportOnly || pins.isExpired(at: now) && pins.afterExpiry == .standardValidation
    }

    private static func refusal(_ path: ValidatedPath) -> String {
        "no published pin is in the chain of \(path.leaf?.publicKeyPin.description ?? "a server without certificates")"
    }
}

extension RolloverState {
    /// Takes note of when a server loses its last pin. The first server counts.
    fileprivate mutating func note(_ end: Date) {
        guard end < .distantFuture else { return }
        pinsEnd = pinsEnd.map { min($0, end) } ?? end
    }
}
