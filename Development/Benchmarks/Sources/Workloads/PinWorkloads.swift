import Crypto
import Holdfast

/// The pin check of a chain, and the hashing that is its minimum.
public enum PinWorkloads {
    /// SHA-256 of the three SubjectPublicKeyInfos, which are extracted already.
    public static func bareHashes(_ chain: ChainMaterial) throws -> Workload {
        let keys = try chain.path.map { Array(try SubjectPublicKeyInfo(certificateDER: $0).der) }
        return Workload("bare SHA-256 of three SubjectPublicKeyInfos") {
            for key in keys { consume(SHA256.hash(data: key)) }
        }
    }

    /// From DER to the answer, for every certificate of the chain; the matching pin is that of the last.
    public static func check(_ chain: ChainMaterial) throws -> Workload {
        guard let last = chain.path.last else { throw WorkloadError("an empty chain") }
        let backups = try (0..<3).map { index in
            try Pin(subject: .publicKey, digest: [UInt8](repeating: UInt8(index), count: 32))
        }
        let pins = try PinSet(pins: [try Pin.publicKey(of: last)], backups: backups)
        let path = chain.path
        return Workload("pin check of three certificates, from DER") {
            var found = 0
            for certificate in path where pins.contains(try Pin.publicKey(of: certificate)) { found += 1 }
            try require(found == 1, "\(found) pins found")
        }
    }
}
