import Foundation
import Holdfast
import HoldfastTUF

/// What a client has come to trust, by the names of the files: how what is published is read.
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
