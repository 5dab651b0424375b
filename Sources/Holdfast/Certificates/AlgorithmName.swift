/// The names of registered algorithms, for messages, so that readers need not look up an object identifier.
///
/// A name makes nothing supported. Only the bytes of an identifier determine what is verified.
enum AlgorithmName {
    /// The name, or the dotted identifier if it has no name here.
    /// - Parameter identifier: the content bytes of an OBJECT IDENTIFIER.
    static func text(_ identifier: ArraySlice<UInt8>) -> String {
        let dotted = ObjectIdentifier.text(identifier)
        if let name = names[dotted] { return name }
        for arc in arcs where dotted.utf8.starts(with: arc.prefix.utf8) {
            let last = dotted.utf8.dropFirst(arc.prefix.utf8.count)
            guard last.count <= 3, let number = Int(String(decoding: last, as: UTF8.self)) else { continue }
            if arc.numbers.contains(number) { return arc.name }
        }
        return dotted
    }

    /// Families whose members do not need a name each.
    private static let arcs: [(prefix: String, numbers: ClosedRange<Int>, name: String)] = [
        // draft-ietf-lamps-pq-composite-sigs
        ("1.3.6.1.5.5.7.6.", 37...54, "composite ML-DSA"),
        // FIPS 205, RFC 9814
        ("2.16.840.1.101.3.4.3.", 20...31, "SLH-DSA"), ("2.16.840.1.101.3.4.3.", 35...46, "HashSLH-DSA"),
    ]

    private static let names: [String: String] = [
        // Signatures with RSA (RFC 8017, RFC 4055, RFC 8702)
        "1.2.840.113549.1.1.1": "RSA", "1.2.840.113549.1.1.2": "RSA PKCS#1 v1.5 with MD2",
        "1.2.840.113549.1.1.3": "RSA PKCS#1 v1.5 with MD4", "1.2.840.113549.1.1.4": "RSA PKCS#1 v1.5 with MD5",
        "1.2.840.113549.1.1.5": "RSA PKCS#1 v1.5 with SHA-1", "1.3.14.3.2.29": "RSA PKCS#1 v1.5 with SHA-1",
        "1.2.840.113549.1.1.10": "RSA-PSS", "1.2.840.113549.1.1.11": "RSA PKCS#1 v1.5 with SHA-256",
        "1.2.840.113549.1.1.12": "RSA PKCS#1 v1.5 with SHA-384",
        "1.2.840.113549.1.1.13": "RSA PKCS#1 v1.5 with SHA-512",
        "1.2.840.113549.1.1.14": "RSA PKCS#1 v1.5 with SHA-224",
        "1.2.840.113549.1.1.15": "RSA PKCS#1 v1.5 with SHA-512/224",
        "1.2.840.113549.1.1.16": "RSA PKCS#1 v1.5 with SHA-512/256",
        "2.16.840.1.101.3.4.3.13": "RSA PKCS#1 v1.5 with SHA3-224",
        "2.16.840.1.101.3.4.3.14": "RSA PKCS#1 v1.5 with SHA3-256",
        "2.16.840.1.101.3.4.3.15": "RSA PKCS#1 v1.5 with SHA3-384",
        "2.16.840.1.101.3.4.3.16": "RSA PKCS#1 v1.5 with SHA3-512",
        "1.3.6.1.5.5.7.6.30": "RSA-PSS with SHAKE128", "1.3.6.1.5.5.7.6.31": "RSA-PSS with SHAKE256",
        // DSA (RFC 3279, RFC 5758)
        "1.2.840.10040.4.1": "DSA", "1.2.840.10040.4.3": "DSA with SHA-1", "1.3.14.3.2.27": "DSA with SHA-1",
        "2.16.840.1.101.3.4.3.1": "DSA with SHA-224", "2.16.840.1.101.3.4.3.2": "DSA with SHA-256",
        "2.16.840.1.101.3.4.3.3": "DSA with SHA-384", "2.16.840.1.101.3.4.3.4": "DSA with SHA-512",
        "2.16.840.1.101.3.4.3.5": "DSA with SHA3-224", "2.16.840.1.101.3.4.3.6": "DSA with SHA3-256",
        "2.16.840.1.101.3.4.3.7": "DSA with SHA3-384", "2.16.840.1.101.3.4.3.8": "DSA with SHA3-512",
        // ECDSA (RFC 3279, RFC 5758, RFC 8692)
        "1.2.840.10045.2.1": "elliptic curve", "1.2.840.10045.4.1": "ECDSA with SHA-1",
        "1.2.840.10045.4.3.1": "ECDSA with SHA-224", "1.2.840.10045.4.3.2": "ECDSA with SHA-256",
        "1.2.840.10045.4.3.3": "ECDSA with SHA-384", "1.2.840.10045.4.3.4": "ECDSA with SHA-512",
        "2.16.840.1.101.3.4.3.9": "ECDSA with SHA3-224", "2.16.840.1.101.3.4.3.10": "ECDSA with SHA3-256",
        "2.16.840.1.101.3.4.3.11": "ECDSA with SHA3-384", "2.16.840.1.101.3.4.3.12": "ECDSA with SHA3-512",
        "1.3.6.1.5.5.7.6.32": "ECDSA with SHAKE128", "1.3.6.1.5.5.7.6.33": "ECDSA with SHAKE256",
        // Edwards and Montgomery curves (RFC 8410)
        "1.3.101.110": "X25519", "1.3.101.111": "X448", "1.3.101.112": "Ed25519", "1.3.101.113": "Ed448",
        // Post-quantum algorithms (RFC 9881, RFC 9708, RFC 9802), and unsigned certificates (RFC 9925)
        "2.16.840.1.101.3.4.3.17": "ML-DSA-44", "2.16.840.1.101.3.4.3.18": "ML-DSA-65",
        "2.16.840.1.101.3.4.3.19": "ML-DSA-87", "2.16.840.1.101.3.4.3.32": "HashML-DSA-44",
        "2.16.840.1.101.3.4.3.33": "HashML-DSA-65", "2.16.840.1.101.3.4.3.34": "HashML-DSA-87",
        "2.16.840.1.101.3.4.4.1": "ML-KEM-512", "2.16.840.1.101.3.4.4.2": "ML-KEM-768",
        "2.16.840.1.101.3.4.4.3": "ML-KEM-1024", "1.2.840.113549.1.9.16.3.17": "HSS/LMS",
        "1.3.6.1.5.5.7.6.34": "XMSS", "1.3.6.1.5.5.7.6.35": "XMSS^MT", "1.3.6.1.5.5.7.6.36": "no signature",
        // National algorithms
        "1.2.643.2.2.3": "GOST R 34.10-2001", "1.2.643.2.2.19": "GOST R 34.10-2001",
        "1.2.643.7.1.1.1.1": "GOST R 34.10-2012 (256)", "1.2.643.7.1.1.1.2": "GOST R 34.10-2012 (512)",
        "1.2.643.7.1.1.3.2": "GOST R 34.10-2012 (256)", "1.2.643.7.1.1.3.3": "GOST R 34.10-2012 (512)",
        "1.2.156.10197.1.301": "SM2", "1.2.156.10197.1.501": "SM2 with SM3",
        // Curves (RFC 5480, SEC 2, RFC 5639)
        "1.2.840.10045.3.1.1": "P-192", "1.3.132.0.33": "P-224", "1.2.840.10045.3.1.7": "P-256",
        "1.3.132.0.34": "P-384", "1.3.132.0.35": "P-521", "1.3.132.0.8": "secp160r1", "1.3.132.0.9": "secp160k1",
        "1.3.132.0.30": "secp160r2", "1.3.132.0.31": "secp192k1", "1.3.132.0.32": "secp224k1",
        "1.3.132.0.10": "secp256k1", "1.3.132.0.1": "sect163k1", "1.3.132.0.15": "sect163r2",
        "1.3.132.0.26": "sect233k1", "1.3.132.0.27": "sect233r1", "1.3.132.0.16": "sect283k1",
        "1.3.132.0.17": "sect283r1", "1.3.132.0.36": "sect409k1", "1.3.132.0.37": "sect409r1",
        "1.3.132.0.38": "sect571k1", "1.3.132.0.39": "sect571r1", "1.2.250.1.223.101.256.1": "FRP256v1",
        "1.3.36.3.3.2.8.1.1.1": "brainpoolP160r1", "1.3.36.3.3.2.8.1.1.2": "brainpoolP160t1",
        "1.3.36.3.3.2.8.1.1.3": "brainpoolP192r1", "1.3.36.3.3.2.8.1.1.4": "brainpoolP192t1",
        "1.3.36.3.3.2.8.1.1.5": "brainpoolP224r1", "1.3.36.3.3.2.8.1.1.6": "brainpoolP224t1",
        "1.3.36.3.3.2.8.1.1.7": "brainpoolP256r1", "1.3.36.3.3.2.8.1.1.8": "brainpoolP256t1",
        "1.3.36.3.3.2.8.1.1.9": "brainpoolP320r1", "1.3.36.3.3.2.8.1.1.10": "brainpoolP320t1",
        "1.3.36.3.3.2.8.1.1.11": "brainpoolP384r1", "1.3.36.3.3.2.8.1.1.12": "brainpoolP384t1",
        "1.3.36.3.3.2.8.1.1.13": "brainpoolP512r1", "1.3.36.3.3.2.8.1.1.14": "brainpoolP512t1",
        // Digests (RFC 5754, RFC 8702, RFC 7693)
        "1.2.840.113549.2.2": "MD2", "1.2.840.113549.2.4": "MD4", "1.2.840.113549.2.5": "MD5",
        "1.3.14.3.2.26": "SHA-1", "2.16.840.1.101.3.4.2.1": "SHA-256", "2.16.840.1.101.3.4.2.2": "SHA-384",
        "2.16.840.1.101.3.4.2.3": "SHA-512", "2.16.840.1.101.3.4.2.4": "SHA-224",
        "2.16.840.1.101.3.4.2.5": "SHA-512/224", "2.16.840.1.101.3.4.2.6": "SHA-512/256",
        "2.16.840.1.101.3.4.2.7": "SHA3-224", "2.16.840.1.101.3.4.2.8": "SHA3-256",
        "2.16.840.1.101.3.4.2.9": "SHA3-384", "2.16.840.1.101.3.4.2.10": "SHA3-512",
        "2.16.840.1.101.3.4.2.11": "SHAKE128", "2.16.840.1.101.3.4.2.12": "SHAKE256",
        "1.3.36.3.2.1": "RIPEMD-160", "1.2.156.10197.1.401": "SM3", "1.2.643.7.1.1.2.2": "GOST R 34.11-2012 (256)",
        "1.2.643.7.1.1.2.3": "GOST R 34.11-2012 (512)", "1.3.6.1.4.1.1722.12.2.1.5": "BLAKE2b-160",
        "1.3.6.1.4.1.1722.12.2.1.8": "BLAKE2b-256", "1.3.6.1.4.1.1722.12.2.1.12": "BLAKE2b-384",
        "1.3.6.1.4.1.1722.12.2.1.16": "BLAKE2b-512",
    ]
}
