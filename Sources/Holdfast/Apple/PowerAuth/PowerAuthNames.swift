#if canImport(PowerAuth2) && canImport(Security)
public import PowerAuth2

#if canImport(PowerAuthCore)
import PowerAuthCore

/// PowerAuth's protocol for whoever validates its servers; older releases of PowerAuth2 call it
/// `PA2ClientSslValidationStrategy`.
public typealias PowerAuthStrategy = PowerAuthClientSslValidationStrategy
typealias PowerAuthKey = PowerAuthCoreECPublicKey
typealias PowerAuthCrypto = PowerAuthCoreCryptoUtils
typealias PowerAuthItems = PowerAuthKeychain
#else
/// PowerAuth's protocol for whoever validates its servers; newer releases of PowerAuth2 call it
/// `PowerAuthClientSslValidationStrategy`.
public typealias PowerAuthStrategy = PA2ClientSslValidationStrategy
typealias PowerAuthKey = PA2ECPublicKey
typealias PowerAuthCrypto = PA2CryptoUtils
typealias PowerAuthItems = PA2Keychain
#endif
#endif
