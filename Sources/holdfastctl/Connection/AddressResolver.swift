import Dispatch
import Foundation
import Holdfast

/// Finds every address of a name.
struct AddressResolver: Sendable {
    /// Finds the addresses of a name, in text form, each once.
    let addresses: @Sendable (String) async throws(CommandFailure) -> [String]

    init(_ addresses: @escaping @Sendable (String) async throws(CommandFailure) -> [String]) {
        self.addresses = addresses
    }

    /// A resolver that asks the system, in bounded time.
    static func system(limit: Duration) -> AddressResolver {
        AddressResolver { name throws(CommandFailure) in
            let late = CommandFailure(
                .timedOut, "the addresses of \(name) were not found within \(limit.components.seconds) s")
            let search = Task {
                await withCheckedContinuation { continuation in
                    // The system's call waits for the network, and cannot be canceled.
                    DispatchQueue.global().async { continuation.resume(returning: lookUp(name)) }
                }
            }
            return try await (TimeLimit.value(of: search, within: limit) ?? .failure(late)).get()
        }
    }

    private static func lookUp(_ name: String) -> Result<[String], CommandFailure> {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        // Returns no IPv6 addresses if this machine has no IPv6.
        unsafe hints.ai_flags = AI_ADDRCONFIG
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else {
            return .failure(CommandFailure(.resolveFailed, "no address was found for \(name)"))
        }
        defer { unsafe freeaddrinfo(list) }
        var found: [String] = []
        var known: Set<String> = []
        var next = unsafe list
        while let entry = unsafe next {
            if let text = unsafe text(of: entry.pointee), known.insert(text).inserted { found.append(text) }
            unsafe next = entry.pointee.ai_next
        }
        return .success(found)
    }

    private static func text(of entry: addrinfo) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let length = socklen_t(buffer.count)
        guard
            unsafe getnameinfo(entry.ai_addr, entry.ai_addrlen, &buffer, length, nil, 0, NI_NUMERICHOST) == 0
        else { return nil }
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
