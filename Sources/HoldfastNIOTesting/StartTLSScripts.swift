#if Services
/// What servers of each protocol say up to the beginning of TLS, written from the protocols' documents.
package enum StartTLSScripts {
    package static let smtp: [ScriptedServer.Line] = [
        .say("220-mail.example.com ESMTP\r\n220 ready\r\n"), .hear("EHLO [127.0.0.1]\r\n"),
        .say("250-mail.example.com\r\n250-SIZE 1000\r\n250-STARTTLS\r\n250 HELP\r\n"), .hear("STARTTLS\r\n"),
        .say("220 go ahead\r\n"), .tls,
    ]
    package static let imap: [ScriptedServer.Line] = [
        .say("* OK IMAP4rev2 ready\r\n"), .hear("a1 CAPABILITY\r\n"),
        .say("* CAPABILITY IMAP4rev2 STARTTLS LOGINDISABLED\r\n* OK a word in between\r\na1 OK done\r\n"),
        .hear("a2 STARTTLS\r\n"), .say("a2 OK begin\r\n"), .tls,
    ]
    package static let pop3: [ScriptedServer.Line] = [
        .say("+OK POP3 ready\r\n"), .hear("STLS\r\n"), .say("+OK begin\r\n"), .tls,
    ]
    package static let ldapRequest: [UInt8] =
        [0x30, 0x1D, 0x02, 0x01, 0x01, 0x77, 0x18, 0x80, 0x16] + Array("1.3.6.1.4.1.1466.20037".utf8)
    package static let ldapResponse: [UInt8] = [
        0x30, 0x0C, 0x02, 0x01, 0x01, 0x78, 0x07, 0x0A, 0x01, 0x00, 0x04, 0x00, 0x04, 0x00,
    ]
    package static let ldap: [ScriptedServer.Line] = [.hear(ldapRequest), .say(ldapResponse), .tls]
    package static let postgresRequest: [UInt8] = [0, 0, 0, 8, 4, 210, 22, 47]
    package static let postgres: [ScriptedServer.Line] = [.hear(postgresRequest), .say("S"), .tls]
    /// Version 10, "8.0.36", connection 7, scramble, flags of the lower half, and the rest.
    package static func mysqlGreeting(flags: UInt16) -> [UInt8] {
        let payload: [UInt8] =
            [10] + Array("8.0.36".utf8) + [0, 7, 0, 0, 0] + Array(repeating: 0x41, count: 8) + [0]
            + [UInt8(flags & 0xFF), UInt8(flags >> 8), 45, 2, 0, 0xFF, 0xDF, 21] + Array(repeating: 0, count: 10)
            + Array(repeating: 0x42, count: 12) + [0] + Array("caching_sha2_password".utf8) + [0]
        return [UInt8(payload.count), 0, 0, 0] + payload
    }
    package static let mysqlRequest: [UInt8] =
        [32, 0, 0, 1, 0x01, 0x8A, 0x08, 0x00, 0, 0, 0, 1, 33] + Array(repeating: 0, count: 23)
    package static let mysql: [ScriptedServer.Line] = [.say(mysqlGreeting(flags: 0xFFFF)), .hear(mysqlRequest), .tls]

    package static let all = [
        "smtp": smtp, "imap": imap, "pop3": pop3, "ldap": ldap, "postgres": postgres, "mysql": mysql,
    ]
}
#endif
