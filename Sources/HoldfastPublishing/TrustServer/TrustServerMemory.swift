import Foundation
import Holdfast
import HoldfastSigning

/// The paths of a trust server's files in a storage.
public enum TrustServerPath {
    /// The memory of earlier rounds.
    public static func memory(of customer: String) -> String { "\(customer).hosts.json" }
    /// The signed document, which clients get.
    public static func document(of customer: String) -> String { "\(customer).json.signed" }

    /// The documents that rounds with other pins replaced while clients may hold them. This file is not public.
    public static func replaced(of customer: String) -> String { "\(customer).replaced.json" }

    /// Maximum size of any of them in bytes.
    public static let maximumBytes = 64 << 20
}

/// The readable memory of earlier rounds. A damaged memory is treated as missing, and reported.
struct TrustServerMemory: Sendable {
    var memory = PublishingMemory()
    /// The content that was read.
    var data: Data?
    /// The problem of the memory; nil if there is none.
    var problem: String?
    /// Whether it may be replaced. A file that is temporarily unreadable may contain facts that cannot be recovered.
    var isReplaceable = true
    /// Whether there is no usable memory.
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
