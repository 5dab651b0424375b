import Foundation
import Holdfast
import HoldfastTUF

/// The files that a client trusts, by their names. The published repository is read in this way.
struct TUFTrustedFiles: MetadataStore {
    private let files = Lock<[String: Data]>([:])

    subscript(_ path: String) -> Data? { files.withLock { $0[path] } }

    func data(of name: StoredMetadataName, atMost limit: Int) -> Data? { self[name.path] }

    func replace(_ name: StoredMetadataName, _ old: Data?, with new: Data?, atMost limit: Int) -> Bool {
        files.withLock { files in
            guard files[name.path] == old else { return false }
            files[name.path] = new
            return true
        }
    }
}
