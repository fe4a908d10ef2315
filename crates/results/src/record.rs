//! Structs whose fields other crates can list.

/// Defines a struct with public fields, and the macro `$fields`, which hands the struct's name, its
/// fields and all documentation to another macro. The Python bindings show them as they stand here.
macro_rules! record {
    (
        $fields:ident:
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $($(#[doc = $doc:literal])* pub $field:ident: $type:ty,)*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $type,)*
        }

        #[doc(hidden)]
        #[macro_export]
        macro_rules! $fields {
            ($then:ident) => {
                $then! {
                    $(#[doc = $about])*
                    $name { $($(#[doc = $doc])* $field,)* }
                }
            };
        }
    };
}

pub(crate) use record;
