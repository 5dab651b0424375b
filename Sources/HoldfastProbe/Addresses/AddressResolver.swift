import Dispatch
import Foundation
import Holdfast

/// Finds all addresses of a name.
public struct AddressResolver: Sendable {
    /// Finds the addresses of a name, each once, in the order in which to probe them. It throws ``ProbeFailure`` with
    /// `resolveFailed` if the name has no address.
    public let addresses: @Sendable (_ name: String) async throws(ProbeFailure) -> [IPAddress]

    /// Makes a resolver from a closure. The probe limits its time.
    public init(_ addresses: @escaping @Sendable (_ name: String) async throws(ProbeFailure) -> [IPAddress]) {
        self.addresses = addresses
    }

    /// Queries the system for addresses of both families, even if this machine has no IPv6, because the result must
    /// list the addresses that were not probed.
    public static let system = AddressResolver { name throws(ProbeFailure) in
        let found = await withCheckedContinuation { continuation in
            // The system call waits for the network and cannot be canceled.
            DispatchQueue.global().async { continuation.resume(returning: lookUp(name)) }
        }
        guard !found.isEmpty else { throw .noAddress(of: name) }
        return found
    }

    private static func lookUp(_ name: String) -> [IPAddress] {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_UNSPEC
        var list: UnsafeMutablePointer<addrinfo>?
        guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
        defer { unsafe freeaddrinfo(list) }
        var found: [IPAddress] = []
        var known: Set<IPAddress> = []
        var next = unsafe list
        while let entry = unsafe next {
            if let address = unsafe address(of: entry.pointee), known.insert(address).inserted { found.append(address) }
            unsafe next = entry.pointee.ai_next
        }
        return found
    }

    /// - Returns: nil for an address with a zone, which belongs to this machine's own network.
    private static func address(of entry: addrinfo) -> IPAddress? {
        guard let address = unsafe entry.ai_addr else { return nil }
        switch unsafe entry.ai_family {
        case AF_INET:
            return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                IPAddress(octets: unsafe withUnsafeBytes(of: pointer.pointee.sin_addr) { unsafe Array($0) })
            }
        case AF_INET6:
            return unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                guard unsafe pointer.pointee.sin6_scope_id == 0 else { return nil }
                return IPAddress(octets: unsafe withUnsafeBytes(of: pointer.pointee.sin6_addr) { unsafe Array($0) })
            }
        default: return nil
        }
    }
}

extension ProbeFailure {
    static func noAddress(of name: String) -> ProbeFailure {
        ProbeFailure(
            .resolveFailed, at: name, expected: "an address", found: "none",
            sentence: "no address was found for \(name)")
    }
}
