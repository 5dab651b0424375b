public import Foundation
public import FoundationNetworking
public import Security

public protocol PowerAuthClientSslValidationStrategy: NSObjectProtocol {
    func validateSsl(
        for session: URLSession, challenge: URLAuthenticationChallenge,
        completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
}

public enum PowerAuthKeychainStoreItemResult: Int {
    case ok
    case notFound
    case duplicate
    case other
}

public class PowerAuthKeychain: NSObject {
    private static let items = Lock<[String: Data]>([:])
    private static let refusals = Lock<[String: OSStatus]>([:])
    private let identifier: String

    /// From now on every call for an identifier ends with a status of the keychain's; nil ends that.
    public static func fail(identifier: String, with status: OSStatus?) {
        refusals.withLock { $0["\(identifier) "] = status }
    }

    private var refusal: OSStatus? { Self.refusals.withLock { $0[identifier] } }

    public convenience init(identifier: String) { self.init(identifier: identifier, accessGroup: nil) }

    public init(identifier: String, accessGroup: String?) {
        self.identifier = "\(identifier) \(accessGroup ?? "")"
    }

    private func name(_ key: String) -> String { "\(identifier) \(key)" }

    /// True for what the keychain does not say, as PowerAuth's is.
    public func containsData(forKey key: String) -> Bool {
        refusal != nil || Self.items.withLock { $0[name(key)] != nil }
    }

    public func addValue(_ data: Data, forKey key: String) -> PowerAuthKeychainStoreItemResult {
        guard refusal == nil else { return .duplicate }
        return Self.items.withLock { items in
            guard items[name(key)] == nil else { return .duplicate }
            items[name(key)] = data
            return .ok
        }
    }

    public func updateValue(_ data: Data, forKey key: String) -> PowerAuthKeychainStoreItemResult {
        guard refusal == nil else { return .other }
        return Self.items.withLock { items in
            guard items[name(key)] != nil else { return .notFound }
            items[name(key)] = data
            return .ok
        }
    }

    public func data(forKey key: String, status: UnsafeMutablePointer<OSStatus>?) -> Data? {
        if let refusal {
            unsafe status?.pointee = refusal
            return nil
        }
        let data = Self.items.withLock { $0[name(key)] }
        unsafe status?.pointee = data == nil ? errSecItemNotFound : errSecSuccess
        return data
    }

    @discardableResult
    public func deleteData(forKey key: String) -> Bool {
        Self.items.withLock { $0.removeValue(forKey: name(key)) != nil }
    }
}

public class PowerAuthConfiguration: NSObject {
    public var baseEndpointUrl = ""
}

public class PowerAuthKeychainConfiguration: NSObject {
    public var keychainAttribute_AccessGroup: String?
}

public class PowerAuthClientConfiguration: NSObject {
    public var sslValidationStrategy: (any PowerAuthClientSslValidationStrategy)?
}

// The names before 1.6, which PowerAuth2 goes on declaring.
@available(*, deprecated)
public typealias PA2KeychainConfiguration = PowerAuthKeychainConfiguration
@available(*, deprecated)
public typealias PA2ClientConfiguration = PowerAuthClientConfiguration
@available(*, deprecated)
public protocol PA2ClientSslValidationStrategy: PowerAuthClientSslValidationStrategy {}

public class PowerAuthSDK: NSObject {
    public let clientConfiguration: PowerAuthClientConfiguration?

    public init?(
        configuration: PowerAuthConfiguration, keychainConfiguration: PowerAuthKeychainConfiguration?,
        clientConfiguration: PowerAuthClientConfiguration?
    ) {
        guard !configuration.baseEndpointUrl.isEmpty else { return nil }
        self.clientConfiguration = clientConfiguration
    }
}
