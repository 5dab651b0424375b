import Foundation

@testable import HoldfastTUF

/// Metadata of The Update Framework, read as if its signatures were valid.
func examineMetadata(_ input: [UInt8]) {
    try? MetadataReader.read(input)
    var comparisons = 0
    guard let tree = try? JSONTree(input, maximumBytes: 65_536, comparisons: &comparisons) else { return }
    // Sorting n keys takes n times the logarithm of n.
    require(comparisons <= 20 * input.count, "keys are compared a bounded number of times")
    let canonical = tree.canonical
    require(canonical.count <= 2 * input.count, "canonical JSON is no longer than its text")
    // It contains control characters unescaped, which no reader accepts.
    guard canonical.allSatisfy({ $0 >= 0x20 }) else { return }
    guard let again = try? JSONTree(canonical, maximumBytes: .max, comparisons: &comparisons) else {
        return require(false, "canonical JSON is JSON")
    }
    require(again.canonical == canonical, "canonical JSON has one form")
}
