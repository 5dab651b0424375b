import Foundation
import Holdfast
import Testing

@testable import PinPublication
@testable import ServerFoundation
@testable import ServerStore

@Suite("Addresses of PostgreSQL")
struct PostgreSQLAddressTests {
    @Test(
        "A database of another machine needs verified TLS, and says how to get it",
        arguments: [
            "postgresql://holdfast@db.example.com/pins", "postgresql://holdfast@db.example.com/pins?sslmode=require",
            "postgresql://holdfast@db.example.com/pins?sslmode=verify-ca", "postgres://h@127.0.0.1,10.0.0.1/pins",
            "postgresql://h@localhost.example.com/pins", "postgresql://h@127.0.0.1.example.com/pins",
            "postgresql://h@128.0.0.1/pins", "postgresql://h@127.0.0.256/pins", "postgresql://h@[::2]/pins",
            "postgresql://h@db.example.com/pins?sslmode=verify-full&sslmode=prefer",
        ])
    func remote(_ text: String) {
        let error = expectError(.invalidValue) { try PostgreSQLAddress(text) }
        #expect(error?.remedy.contains("sslmode=verify-full") == true, "\(text): \(String(describing: error))")
    }

    @Test(
        "With verified TLS, on loopback and on a socket it is taken",
        arguments: [
            "postgresql://holdfast@db.example.com/pins?sslmode=verify-full",
            "postgresql://h@db1.example.com,db2.example.com:5433/pins?sslmode=verify-full&target_session_attrs=read-write",
            "postgresql://holdfast@127.0.0.1/pins", "postgres://h@localhost:5433/pins", "postgresql://h@[::1]/pins",
            "postgresql://h@127.0.0.1,127.0.0.2/pins?target_session_attrs=any",
            "postgresql://h@127.0.0.1,127.0.0.2/pins",
            "postgresql:///pins?host=/run/postgresql&requirepeer=postgres",
            "postgresql:///pins?host=/run/postgresql", "postgresql://h@%2Frun%2Fpostgresql/pins",
        ])
    func taken(_ text: String) throws {
        let address = try PostgreSQLAddress(text)
        #expect(try PostgreSQLAddress(address.withoutPassword) == address)
    }

    @Test(
        "What is no address, has no host or database, or could lead elsewhere is refused",
        arguments: [
            "", "pins", "mysql://h@127.0.0.1/pins", "host=127.0.0.1 dbname=pins", "postgresql:///pins",
            "postgresql://h@127.0.0.1/", "postgresql://h@127.0.0.1/pins?hostaddr=10.0.0.1",
            "postgresql://h@127.0.0.1/pins?service=other",
            "postgresql://h@127.0.0.1/pins?options=-csynchronous_commit%3Doff",
            "postgresql://h@127.0.0.1/pins?replication=true", "postgresql://h@127.0.0.1/pins%0A",
            "postgresql://h@127.0.0.1/\u{e4}",
            "postgresql://h@127.0.0.1/pins?gssencmode=prefer", "postgresql://" + String(repeating: "a", count: 3_000),
        ])
    func refused(_ text: String) {
        expectError(.invalidValue) { try PostgreSQLAddress(text) }
    }

    @Test("A password is in no description, no file of the server and no error, and on no command line")
    func password() async throws {
        let text = "postgresql://holdfast:s3cret%21@127.0.0.1/pins"
        let address = try PostgreSQLAddress(text)
        #expect(address.hasPassword && address.connectionText.contains("password='s3cret!'"))
        #expect(!"\(address)".contains("s3cret") && !address.withoutPassword.contains("s3cret"))
        let settings = try FolderConfiguration(
            server: Story.server, genesis: Digest(of: [1]), secret: "/etc/secret", database: address)
        #expect(!String(decoding: settings.bytes, as: UTF8.self).contains("s3cret"))
        let read = try FolderConfiguration(settings.bytes)
        #expect(read.database?.hasPassword == false && read.bytes == settings.bytes)
        let error = expectError(.invalidValue) { try PostgreSQLAddress(text.replacing("127.0.0.1", with: "10.0.0.1")) }
        #expect(error.map { !"\($0)".contains("s3cret") } ?? false)
        try await withFolder { folder in
            let (status, output) = try await ServerProgram.run(
                ["status", "--data", folder.path, "--database", text], in: folder)
            #expect(status == 2 && output.contains("passfile") && !output.contains("s3cret"), "\(output)")
        }
    }

    @Test("Of several hosts the primary is taken, unless the address says another one; of one host whatever it is")
    func primary() throws {
        let hosts = "postgresql://h@127.0.0.1,127.0.0.2/pins"
        #expect(try PostgreSQLAddress(hosts).connectionText.contains("target_session_attrs='primary'"))
        let any = try PostgreSQLAddress("\(hosts)?target_session_attrs=any")
        #expect(any.connectionText.contains("target_session_attrs='any'"))
        #expect(try PostgreSQLAddress("postgresql://h@127.0.0.1/pins").connectionText.contains("attrs='any'"))
    }

    @Test("Values are quoted for libpq")
    func quoting() throws {
        let address = try PostgreSQLAddress("postgresql://a%27b%5Cc@127.0.0.1/pins")
        #expect(address.connectionText.contains(#"user='a\'b\\c'"#))
        #expect(try PostgreSQLAddress(address.withoutPassword) == address)
    }
}
