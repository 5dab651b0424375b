import Foundation
import Holdfast
import HoldfastSigning

/// Where a trust server's files are in a storage.
public enum TrustServerPath {
    /// The memory of earlier rounds.
    public static func memory(of customer: String) -> String { "\(customer).hosts.json" }
    /// The signed document, which clients get.
    public static func document(of customer: String) -> String { "\(customer).json.signed" }

    /// The documents that rounds with other pins replaced while clients may hold them. It is not for everybody.
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
