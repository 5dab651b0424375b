import Foundation
public import Holdfast
import HoldfastSigning

/// Where a trust server's files are in a storage.
public enum TrustServerPath {
    /// The memory of earlier rounds. It is not for everybody: it says what waits for approval.
    public static func memory(of customer: String) -> String { "\(customer).hosts.json" }
    /// The signed document, which clients get.
    public static func document(of customer: String) -> String { "\(customer).json.signed" }

    /// The documents that rounds with other pins replaced while clients may hold them. It is not for everybody either.
    public static func replaced(of customer: String) -> String { "\(customer).replaced.json" }

    /// The most bytes of any of them.
    public static let maximumBytes = 64 << 20
}

/// What could be read of the memory of earlier rounds. A damaged one is treated as missing, and reported.
struct TrustServerMemory: Sendable {
    var memory = PublishingMemory()
    /// The octets that were read.
    var data: Data?
    /// What is wrong with it.
    var problem: String?
    /// Whether it may be replaced. A file that cannot be read just now may contain what nobody can find out again.
    var isReplaceable = true
    /// Whether there is no memory that can be used.
    var isLost = false

    init(of customer: String, in storage: any PublicationStorage) async {
        let path = TrustServerPath.memory(of: customer)
        let loss = "only the published document is known of earlier rounds"
        do {
            data = try await storage.data(at: path, atMost: TrustServerPath.maximumBytes)
        } catch {
            let reason = (error as? any HoldfastError)?.found ?? ForeignErrorText.found(error)
            problem =
                "\(path) cannot be read: \(reason); \(loss). It is left as it is, so the next round knows nothing of this "
                + "one: make it readable, or remove it."
            (isReplaceable, isLost) = (false, true)
            return
        }
        guard let data else {
            isLost = true
            return
        }
        do throws(SigningError) {
            memory = try PublishingMemory(reading: data)
        } catch {
            problem = "\(path) is damaged: \(error) Until then \(loss)."
            isLost = true
        }
    }
}

extension PublishingMemory {
    /// Approves the changes of hosts that wait, in a storage.
    /// - Parameters:
    ///   - hosts: the hosts.
    ///   - customer: the customer that owns them.
    ///   - storage: where the memory is kept.
    /// - Returns: what was approved. The next round that sees it publishes it, and nothing else.
    /// - Throws: ``PublishingError`` `unreadable` if there is no memory; `nothingWaits` if nothing waits for one of the
    ///   hosts, in which case nothing is approved; `changedMeanwhile`, `unwritable`.
    public static func approve(
        _ hosts: [DialedHost], of customer: String, in storage: any PublicationStorage
    ) async throws(PublishingError) -> [HeldChange] {
        let path = TrustServerPath.memory(of: customer)
        let found = await TrustServerMemory(of: customer, in: storage)
        guard let data = found.data, found.problem == nil else {
            throw PublishingError(
                .unreadable, of: path, expected: "the memory of a round", found: found.problem ?? "none",
                remedy: "Publish a round first: it makes the memory.")
        }
        var memory = found.memory
        var approved: [HeldChange] = []
        for host in hosts {
            guard let next = memory.approving(host) else {
                let waiting = memory.held.filter { !$0.isApproved }.map(\.place)
                throw PublishingError(
                    .nothingWaits, of: "\(host)", expected: "a change that waits for approval",
                    found: waiting.isEmpty ? "none" : "none, but for \(waiting.joined(separator: ", "))")
            }
            memory = next.memory
            approved += next.changes
        }
        do {
            guard try await storage.replace(path, data, with: try memory.data) else {
                throw PublishingError(
                    .changedMeanwhile, of: path, expected: "the memory that was read",
                    found: "that a round has changed it")
            }
        } catch let error as PublishingError {
            throw error
        } catch {
            throw PublishingError(
                .unwritable, of: path, expected: "a memory that can be replaced", found: ForeignErrorText.found(error))
        }
        return approved
    }
}

extension HeldChange {
    /// The host with its port, as people write it.
    package var place: String { SeenHost.place(hostname, port) }
}

extension SeenHost {
    /// The host with its port, as people write it.
    var place: String { Self.place(hostname, port) }

    fileprivate static func place(_ hostname: String, _ port: Int) -> String {
        hostname.utf8.contains(UInt8(ascii: ":")) ? "[\(hostname)]:\(port)" : "\(hostname):\(port)"
    }
}
