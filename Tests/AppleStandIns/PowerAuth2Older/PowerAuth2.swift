public import Foundation
public import FoundationNetworking
public import Security
import Synchronization

public protocol PA2ClientSslValidationStrategy: NSObjectProtocol {
    func validateSsl(
        for session: URLSession, challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

public enum PA2KeychainStoreItemResult: Int {
    case ok
    case notFound
    case duplicate
    case other
}

public class PA2Keychain: NSObject {
    private static let items = Mutex<[String: Data]>([:])
    private let identifier: String

    public convenience init(identifier: String) { self.init(identifier: identifier, accessGroup: nil) }

    public init(identifier: String, accessGroup: String?) {
        self.identifier = "\(identifier) \(accessGroup ?? "")"
    }

    private func name(_ key: String) -> String { "\(identifier) \(key)" }

    public func containsData(forKey key: String) -> Bool { Self.items.withLock { $0[name(key)] != nil } }

    public func addValue(_ data: Data, forKey key: String) -> PA2KeychainStoreItemResult {
        Self.items.withLock { items in
            guard items[name(key)] == nil else { return .duplicate }
            items[name(key)] = data
            return .ok
        }
    }

    public func updateValue(_ data: Data, forKey key: String) -> PA2KeychainStoreItemResult {
        Self.items.withLock { items in
            guard items[name(key)] != nil else { return .notFound }
            items[name(key)] = data
            return .ok
        }
    }

    public func data(forKey key: String, status: UnsafeMutablePointer<OSStatus>?) -> Data? {
        let data = Self.items.withLock { $0[name(key)] }
        unsafe status?.pointee = data == nil ? errSecItemNotFound : errSecSuccess
        return data
    }

    @discardableResult
    public func deleteData(forKey key: String) -> Bool {
        Self.items.withLock { $0.removeValue(forKey: name(key)) != nil }
    }
}
