use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

const PROTO: &str = r#"
syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
enum Colour { RED = 0; BLUE = 1; }
message Item { int32 count = 1; Colour colour = 2; int64 big_number = 3; }
message Order {
  string name = 1; repeated Item items = 2; google.protobuf.Timestamp at = 3; map<string, Item> by_name = 4;
  oneof pay { string card = 5; bool cash = 6; }
}
service Shop {
  rpc Buy(Order) returns (Item);
  rpc Follow(Order) returns (stream Item);
  rpc Fill(stream Order) returns (Item);
}
"#;

/// The descriptor set of a `.proto` text that imports nothing except Google's own files.
pub fn compiled(name: &'static str, text: &'static str) -> Vec<u8> {
    struct Text(&'static str, &'static str);
    impl protox::file::FileResolver for Text {
        fn open_file(&self, name: &str) -> Result<protox::file::File, protox::Error> {
            if name != self.0 {
                return protox::file::GoogleFileResolver::new().open_file(name);
            }
            protox::file::File::from_source(name, self.1)
        }
    }
    let mut compiler = protox::Compiler::with_file_resolver(Text(name, text));
    compiler.include_imports(true).open_file(name).unwrap();
    compiler.encode_file_descriptor_set()
}

fn schema() -> Schema {
    Schema::decode(&compiled("shop.proto", PROTO)).unwrap()
}

fn refused(method: &str, json: &Value) -> String {
    let method = schema().method(method).unwrap();
    encode(&method, json.to_string().as_bytes())
        .unwrap_err()
        .to_string()
}

#[test]
fn methods_are_found_by_the_name_under_which_they_are_called() {
    let schema = schema();
    let listed: Vec<_> = schema
        .methods()
        .map(|method| (method.name, method.takes_stream, method.gives_stream))
        .collect();
    let named = |name: &str| format!("shop.Shop/{name}");
    assert_eq!(
        listed,
        [
            (named("Buy"), false, false),
            (named("Follow"), false, true),
            (named("Fill"), true, false)
        ]
    );
    assert_eq!(
        schema.method("shop.Shop/Fill").unwrap().input().full_name(),
        "shop.Order"
    );
    for wrong in ["shop.Shop/buy", "Shop/Buy", "shop.Shop", ""] {
        assert!(schema.method(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn a_message_goes_from_json_to_bytes_and_back() {
    let method = schema().method("shop.Shop/Buy").unwrap();
    let order = json!({
        "name": "ü", "items": [{"count": "5", "colour": "BLUE"}], "at": "2026-01-02T03:04:05Z",
        "by_name": {"x": {"bigNumber": 9_007_199_254_740_993_i64}}, "cash": true,
    });
    let messages = encode(&method, order.to_string().as_bytes()).unwrap();
    let back: Value =
        serde_json::from_slice(&to_json(&method.input(), &messages[0]).unwrap()).unwrap();
    assert_eq!(
        back["items"][0],
        json!({"count": 5, "colour": "BLUE", "bigNumber": 0})
    );
    assert_eq!(
        back.pointer("/byName/x/bigNumber"),
        Some(&json!(9_007_199_254_740_993_i64))
    );
    assert_eq!(back["at"], "2026-01-02T03:04:05Z");
    assert!(to_json(&method.output(), b"\xff\xff").is_err());
    // Source: protobuf.dev, "Encoding": field 1 with the value 150.
    let item = to_json(&method.output(), &[0x08, 0x96, 0x01]).unwrap();
    assert!(item.starts_with(br#"{"count":150"#));
}

#[test]
fn where_a_stream_is_taken_a_list_is_several_messages() {
    let fill = schema().method("shop.Shop/Fill").unwrap();
    let sizes =
        |json: &str| encode(&fill, json.as_bytes()).map(|all| all.iter().map(Vec::len).collect());
    assert_eq!(sizes(r#"[{"name": "ab"}, {}]"#), Ok(vec![4, 0]));
    assert_eq!(sizes(r#"{"name": "ab"}"#), Ok(vec![4]));
    assert_eq!(sizes("[]"), Ok(vec![]));
}

#[test]
fn a_refusal_names_the_field_and_what_there_is() {
    let buy = "shop.Shop/Buy";
    assert_eq!(
        refused(buy, &json!({"items": [{}, {"colr": 1}]})),
        "message.items[1]: unrecognized field name 'colr'; there is count, colour, big_number"
    );
    assert_eq!(
        refused(buy, &json!({"byName": {"k": {"cnt": 1}}})),
        "message.byName.k: unrecognized field name 'cnt'; there is count, colour, big_number"
    );
    assert!(
        refused(buy, &json!({"nme": "x"}))
            .starts_with("message: unrecognized field name 'nme'; there is name,")
    );
    for (json, place) in [
        (
            json!({"items": [{"count": "x"}]}),
            "message.items[0].count: ",
        ),
        (
            json!({"items": [{"colour": "GREEN"}]}),
            "message.items[0].colour: ",
        ),
        (json!({"name": 5}), "message.name: "),
        (json!({"at": "yesterday"}), "message.at: "),
        (json!({"card": "x", "cash": true}), "message: "),
        (json!([]), "message: "),
    ] {
        let text = refused(buy, &json);
        assert!(text.starts_with(place), "{text}");
    }
    let listed = refused("shop.Shop/Fill", &json!([{}, {"name": 1}]));
    assert!(listed.starts_with("message[1].name: "), "{listed}");
    let method = schema().method(buy).unwrap();
    assert!(
        encode(&method, b"{")
            .unwrap_err()
            .problem
            .starts_with("it is not JSON")
    );
}

proptest! {
    /// A description comes from a server, so it may say anything.
    #[test]
    fn no_description_ends_in_a_panic(
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        response in vec(any::<u8>(), 0..60),
    ) {
        static WHOLE: LazyLock<Vec<u8>> = LazyLock::new(|| compiled("shop.proto", PROTO));
        let order = br#"{"name": "a", "items": [{"colour": "BLUE"}], "at": "2026-01-02T03:04:05Z",
            "byName": {"x": {"bigNumber": 9}}, "cash": true}"#;
        let mut bytes = WHOLE.clone();
        for (place, byte) in damage {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let read = Schema::decode(&bytes);
        for signature in read.iter().flat_map(Schema::methods) {
            if let Some(method) = read.as_ref().unwrap().method(&signature.name) {
                let _ = encode(&method, order);
                let _ = to_json(&method.input(), &response);
            }
        }
    }
}
