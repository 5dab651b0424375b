import Foundation

public let kSecClass: CFString = "class"
public let kSecClassGenericPassword: CFString = "genp"
public let kSecAttrService: CFString = "svce"
public let kSecAttrAccount: CFString = "acct"
public let kSecAttrAccessGroup: CFString = "agrp"
public let kSecAttrGeneric: CFString = "gena"
public let kSecAttrAccessible: CFString = "pdmn"
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = "cku"
public let kSecAttrSynchronizable: CFString = "sync"
@available(macOS 10.15, iOS 13.0, tvOS 13.0, watchOS 6.0, *)
public let kSecUseDataProtectionKeychain: CFString = "nleg"
public let kSecMatchLimit: CFString = "m_Limit"
public let kSecMatchLimitOne: CFString = "m_LimitOne"
public let kSecReturnData: CFString = "r_Data"
public let kSecValueData: CFString = "v_Data"

/// A keychain that is a dictionary. What a real one refuses it refuses too: a second item, a missing one.
public enum StandInKeychain {
    struct Key: Hashable, Sendable {
        let service: String
        let account: String
        let group: String?
    }

    struct Item: Sendable {
        var data: Data
        var generic: Data?
        var accessible: String?
        var isDataProtected: Bool
    }

    struct State: Sendable {
        var items: [Key: Item] = [:]
        var failure: [String: OSStatus] = [:]
    }

    static let state = Lock(State())

    /// From now on every call for a service ends with a status; nil ends that.
    public static func fail(service: String, with status: OSStatus?) {
        state.withLock { $0.failure[service] = status }
    }

    /// Puts something in behind the library's back.
    public static func plant(service: String, account: String, data: Data) {
        state.withLock {
            $0.items[Key(service: service, account: account, group: nil)] = Item(
                data: data, generic: nil, accessible: nil, isDataProtected: true)
        }
    }

    /// The accessibility of an item, for the tests to inspect.
    public static func accessibility(service: String, account: String) -> String? {
        state.withLock { $0.items[Key(service: service, account: account, group: nil)]?.accessible }
    }

    static func perform(_ query: CFDictionary, _ body: (inout State, Key) -> OSStatus) -> OSStatus {
        guard query[kSecClass] as? String == kSecClassGenericPassword, let service = query[kSecAttrService] as? String,
            let account = query[kSecAttrAccount] as? String, query[kSecUseDataProtectionKeychain] is Bool
        else { return errSecParam }
        return state.withLock { state in
            if let failure = state.failure[service] { return failure }
            return body(
                &state, Key(service: service, account: account, group: query[kSecAttrAccessGroup] as? String))
        }
    }
}

public func SecItemAdd(_ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard let data = attributes[kSecValueData] as? Data else { return errSecParam }
    let (generic, accessible) = (attributes[kSecAttrGeneric] as? Data, attributes[kSecAttrAccessible] as? String)
    return StandInKeychain.perform(attributes) { state, key in
        guard state.items[key] == nil else { return errSecDuplicateItem }
        state.items[key] = StandInKeychain.Item(
            data: data, generic: generic, accessible: accessible, isDataProtected: true)
        return errSecSuccess
    }
}

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
    guard query[kSecValueData] == nil, query[kSecReturnData] == nil,
        let data = attributesToUpdate[kSecValueData] as? Data
    else { return errSecParam }
    let accessible = attributesToUpdate[kSecAttrAccessible] as? String
    let (wanted, generic) = (query[kSecAttrGeneric] as? Data, attributesToUpdate[kSecAttrGeneric] as? Data)
    return StandInKeychain.perform(query) { state, key in
        // If the query has a generic attribute, it must match.
        guard let item = state.items[key], wanted == nil || item.generic == wanted else { return errSecItemNotFound }
        state.items[key]?.data = data
        if let generic { state.items[key]?.generic = generic }
        if let accessible { state.items[key]?.accessible = accessible }
        return errSecSuccess
    }
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus {
    StandInKeychain.perform(query) { state, key in
        state.items.removeValue(forKey: key) == nil ? errSecItemNotFound : errSecSuccess
    }
}

public func SecItemCopyMatching(_ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?) -> OSStatus {
    guard query[kSecReturnData] as? Bool == true, query[kSecMatchLimit] as? String == kSecMatchLimitOne else {
        return errSecParam
    }
    var found: Data?
    let status = StandInKeychain.perform(query) { state, key in
        found = state.items[key]?.data
        return found == nil ? errSecItemNotFound : errSecSuccess
    }
    unsafe result?.pointee = found
    return status
}
