public import Foundation
import Holdfast

/// A value that can be stored in a database row and restored from it.
///
/// ```swift
/// try await rows.insert(name: "gate", json: gate.storedJSON)
/// let gate = try InstallationGate(storedJSON: row.json)
/// ```
/// The JSON is canonical: the same value gives the same bytes, in every process. It contains the version of its schema;
/// a reader refuses other versions, and values that contradict themselves.
public protocol StoredValue: Codable, Hashable, Sendable {
    /// The name of the kind of value in its JSON, so that no row is read as another kind.
    static var storedName: String { get }
}

extension StoredValue {
    /// The value as canonical JSON.
    /// - Throws: ``PublishingError`` `invalidInput` for a value that JSON cannot express, such as a date that is no
    ///   number.
    public var storedJSON: Data {
        get throws(PublishingError) {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            do {
                return try encoder.encode(StoredEnvelope(value: self))
            } catch {
                throw PublishingError(
                    .invalidInput, of: Self.storedName, expected: "a value that JSON can say", found: "another")
            }
        }
    }

    /// Restores a value that was written as ``storedJSON``.
    /// - Throws: ``PublishingError`` `invalidInput` if it is another kind of value, or contradicts itself.
    public init(storedJSON data: Data) throws(PublishingError) {
        guard data.count <= StoredEnvelope<Self>.maximumBytes else {
            throw PublishingError(
                .invalidInput, of: Self.storedName, expected: "at most \(StoredEnvelope<Self>.maximumBytes) octets",
                found: "\(data.count)")
        }
        do {
            self = try JSONDecoder().decode(StoredEnvelope<Self>.self, from: data).value
        } catch let error as PublishingError {
            throw error
        } catch {
            throw PublishingError(
                .invalidInput, of: Self.storedName, expected: "the JSON of a stored value",
                found: ForeignErrorText.found(error))
        }
    }
}

/// The JSON of a stored value: its kind, and the version of the schema.
private struct StoredEnvelope<Value: StoredValue>: Codable {
    /// The version of the schema, which only increases.
    static var schema: Int { 1 }
    /// Several times the Base64 size of the largest inputs of an outlook.
    static var maximumBytes: Int { 256 << 20 }

    let value: Value

    private enum CodingKeys: CodingKey {
        case schema, kind, value
    }

    init(value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let (schema, kind) = (
            try container.decode(Int.self, forKey: .schema), try container.decode(String.self, forKey: .kind)
        )
        guard schema == Self.schema, kind.utf8.elementsEqual(Value.storedName.utf8) else {
            throw PublishingError(
                .invalidInput, of: Value.storedName, expected: "schema \(Self.schema) of \(Value.storedName)",
                found: "schema \(schema) of \(kind.quoted)")
        }
        value = try container.decode(Value.self, forKey: .value)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Self.schema, forKey: .schema)
        try container.encode(Value.storedName, forKey: .kind)
        try container.encode(value, forKey: .value)
    }
}

/// A pin in stored JSON, as people write it.
struct StoredPin: Codable {
    let pin: Pin

    init(_ pin: Pin) { self.pin = pin }

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        do throws(PinError) {
            pin = try Pin(text)
        } catch {
            throw PublishingError(.invalidInput, of: "a stored pin", expected: error.expected, found: error.found)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(pin.description)
    }
}

extension PublishingError {
    /// The error for a stored value that contradicts itself.
    static func contradiction(in name: String, _ expected: String, found: String) -> PublishingError {
        PublishingError(
            .invalidInput, of: name, expected: expected, found: found,
            remedy: "Judge again; somebody else has changed what was stored.")
    }
}
