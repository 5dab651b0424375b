import Foundation
import Holdfast

/// A dictionary of an XML property list whose fields are read strictly: a field of another type, or an unexpected one,
/// is an error with its line.
///
/// Foundation's reader keeps no lines, drops all but one of several equal keys, and copies objects that a binary list
/// shares, so that forty objects can grow to 2^40.
struct PropertyListDictionary {
    let element: ConfigurationElement
    private(set) var entries: [(key: String, value: ConfigurationElement)] = []

    /// Reads a whole property list, whose outermost value is a dictionary.
    init(_ data: Data) throws(PublishingError) {
        guard !data.starts(with: Array("bplist".utf8)) else {
            throw PinImport.failure("is a binary property list; make XML of it with plutil -convert xml1 FILE")
        }
        let document = try ConfigurationElement.document(data, wanted: "a property list in XML")
        guard document.isNamed("plist"), document.children.count == 1 else {
            throw document.failure("is not a property list in XML with one dictionary")
        }
        try self.init(document.children[0], "the property list")
    }

    /// - Parameter what: the description of the element, for the error.
    init(_ element: ConfigurationElement, _ what: String) throws(PublishingError) {
        guard element.isNamed("dict") else { throw element.failure("has \(what) as another type than a dictionary") }
        self.element = element
        var seen: Set<[UInt8]> = []
        var key: ConfigurationElement?
        for child in element.children {
            if let name = key {
                guard !child.isNamed("key") else { throw name.failure("has a key without a value in \(what)") }
                entries.append((try name.plainText(), child))
                key = nil
            } else {
                guard child.isNamed("key") else { throw child.failure("has a value without a key in \(what)") }
                guard seen.insert(Array(try child.plainText().utf8)).inserted else {
                    throw child.failure("has the key \(try child.plainText().quotedAddress) twice in \(what)")
                }
                key = child
            }
        }
        if let key { throw key.failure("has a key without a value in \(what)") }
    }

    subscript(_ key: String) -> ConfigurationElement? { entries.first { $0.key.hasSameOctets(as: key) }?.value }

    /// Refuses keys other than these.
    func refuseKeys(except known: [String]) throws(PublishingError) {
        for (key, value) in entries where !known.contains(where: key.hasSameOctets(as:)) {
            throw value.unknown("the key \(key.quotedAddress)")
        }
    }

    /// The dictionaries in a dictionary, sorted by name, so that the pin file is always the same.
    func dictionaries(
        _ key: String
    ) throws(PublishingError) -> [(name: String, content: PropertyListDictionary)] {
        guard let value = self[key] else { throw PinImport.failure("has no \(key)") }
        var read: [(name: String, content: PropertyListDictionary)] = []
        for (name, value) in try PropertyListDictionary(value, key).entries {
            read.append((name, try PropertyListDictionary(value, "\(key) \(name.quotedAddress)")))
        }
        return read.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// - Parameter reading: reads a value that is not `<true/>` or `<false/>` as the system does.
    func truth(
        _ key: String, default standard: Bool, reading: (ConfigurationElement) throws(PublishingError) -> Bool?
    ) throws(PublishingError) -> Bool {
        guard let value = self[key] else { return standard }
        if value.isNamed("true") { return true }
        if value.isNamed("false") { return false }
        guard let truth = try reading(value) else { throw value.failure("has \(key) as neither true nor false") }
        return truth
    }

    /// An array of texts; nil if it is missing.
    func texts(_ key: String) throws(PublishingError) -> [(text: String, line: Int)]? {
        guard let array = try array(key) else { return nil }
        var texts: [(text: String, line: Int)] = []
        for element in array {
            guard element.isNamed("string") else { throw element.failure("has something else than a text in \(key)") }
            texts.append((try element.plainText(), element.line))
        }
        return texts
    }

    /// The elements of an array; nil if it is missing.
    func array(_ key: String) throws(PublishingError) -> [ConfigurationElement]? {
        guard let value = self[key] else { return nil }
        guard value.isNamed("array") else { throw value.failure("has \(key) as another type than an array") }
        return value.children
    }
}
