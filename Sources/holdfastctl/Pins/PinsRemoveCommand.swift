import ArgumentParser
import HoldfastPublishing

/// `holdfastctl pins remove`
struct PinsRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove pins of a host, or its whole entry.",
        usage: """
            holdfastctl pins remove <pin file> <host> <pin | file> ... [<options>]
            holdfastctl pins remove <pin file> <host> --whole-host [<options>]
            """,
        discussion: """
            Mark a pin with pins retire first, and remove it when no server shows its key anymore. With --whole-host the \
            entry of the host is removed; clients then refuse the host, or use another entry that covers it.

            \(PinFileEditing.asking)

            EXAMPLES
              holdfastctl pins remove bank.pins.json api.example.com old.pem
              holdfastctl pins remove bank.pins.json beta.example.com --whole-host

            \(PinFileEditing.exitCodes)
            """)

    @OptionGroup
    var editing: PinFileEditing

    @OptionGroup
    var subject: PinFileSubject

    @Option(help: "Remove the pin only in this role: leaf or issuer.")
    var role: PinFileEdit.Role?

    @Flag(name: .customLong("whole-host"), help: "Remove the whole entry of the host.")
    var wholeHost = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        guard subject.sources.isEmpty == wholeHost else {
            throw ValidationError("Name the pins to remove, or give --whole-host.")
        }
        guard !wholeHost || role == nil else { throw ValidationError("--role goes with pins.") }
    }

    func run() async throws {
        let host = try subject.host.get()
        guard !wholeHost else {
            return try await editing.run(losing: host, by: connection) { edit throws(PublishingError) in
                try edit.remove(host)
            }
        }
        let pins = try subject.pins(includingIssuers: role == .issuer)
        try await editing.run(by: connection) { edit throws(PublishingError) in
            for pin in pins { try edit.remove(pin.named.pin, as: role, from: host) }
        }
    }
}

/// `holdfastctl pins retire`
struct PinsRetireCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire",
        abstract: "Mark pins of a host as retiring, or retire the host.",
        usage: """
            holdfastctl pins retire <pin file> <host> <pin | file> ... [<options>]
            holdfastctl pins retire <pin file> <host> --whole-host [<options>]
            """,
        discussion: """
            A retiring pin counts until it is removed; the state tells people and reports that its key is on its way out. \
            With --whole-host clients refuse to connect to the host from then on: it is for hosts that are gone.

            \(PinFileEditing.asking)

            EXAMPLES
              holdfastctl pins retire bank.pins.json api.example.com old.pem
              holdfastctl pins retire bank.pins.json old.example.com --whole-host

            \(PinFileEditing.exitCodes)
            """)

    @OptionGroup
    var editing: PinFileEditing

    @OptionGroup
    var subject: PinFileSubject

    @Flag(name: .customLong("whole-host"), help: "Retire the host: clients refuse to connect to it.")
    var wholeHost = false

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        guard subject.sources.isEmpty == wholeHost else {
            throw ValidationError("Name the pins that are on their way out, or give --whole-host.")
        }
    }

    func run() async throws {
        let host = try subject.host.get()
        guard !wholeHost else {
            return try await editing.run(losing: host, by: connection) { edit throws(PublishingError) in
                try edit.retire(host)
            }
        }
        let pins = try subject.pins()
        try await editing.run(by: connection) { edit throws(PublishingError) in
            for pin in pins { try edit.retire(pin.named.pin, of: host) }
        }
    }
}

/// `holdfastctl pins promote`
struct PinsPromoteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote",
        abstract: "Make a backup the key in use, and the one that was in use retiring.",
        usage: "holdfastctl pins promote <pin file> <host> <pin | file> [<options>]",
        discussion: """
            No pin is lost: the state of the backup becomes active, and active pins of the same role become retiring. Add \
            the next backup afterwards.

            \(PinFileEditing.asking)

            EXAMPLES
              holdfastctl pins promote bank.pins.json api.example.com next.pem

            \(PinFileEditing.exitCodes)
            """)

    @OptionGroup
    var editing: PinFileEditing

    @OptionGroup
    var subject: PinFileSubject

    @OptionGroup(title: "Connection")
    var connection: ConnectionOptions

    func validate() throws {
        guard subject.sources.count == 1 else {
            throw ValidationError("Name one backup to promote: its pin or a file.")
        }
    }

    func run() async throws {
        let host = try subject.host.get()
        let pins = try subject.pins()
        guard pins.count == 1, let pin = pins.first else {
            throw CommandFailure(.wrongUsage, "\(subject.sources[0]) has several keys; name one by its pin")
        }
        try await editing.run(by: connection) { edit throws(PublishingError) in
            try edit.promote(pin.named.pin, of: host)
        }
    }
}
