//! The summary of a run as Python objects: a class for each struct of `results`, with its fields
//! and their documentation.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use results::{
    deadlock_fields, series_fields, size_bin_fields, slowdown_fields, summary_fields, tag_fields,
    trace_fields, unfinished_fields, warning_fields,
};
use std::collections::BTreeMap;

/// A value of a summary.
trait Value: Sized {
    /// Returns it as Python code sees it: records are objects.
    fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>>;

    /// Returns it as plain data, which JSON can hold.
    fn to_plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_object(py)
    }

    /// Whether a record has no key for a value of this type that is `None`.
    const MAY_BE_ABSENT: bool = false;

    /// Whether it is such a value.
    fn is_absent(&self) -> bool {
        false
    }

    /// Reads it from plain data. `path` is that of the value, for the error.
    fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self>;
}

/// The path of a value: the record, list or table that it is in, and its name or index there.
struct KeyPath<'a> {
    outer: Option<&'a KeyPath<'a>>,
    name: &'a str,
}

impl KeyPath<'_> {
    const TOP: KeyPath<'static> = KeyPath { outer: None, name: "" };

    fn at<'a>(&'a self, name: &'a str) -> KeyPath<'a> {
        KeyPath { outer: Some(self), name }
    }

    /// Returns it as text, such as `slowdown.bins.0`; empty at the top.
    fn text(&self) -> String {
        match self.outer.map(KeyPath::text) {
            Some(outer) if !outer.is_empty() => format!("{outer}.{}", self.name),
            _ => self.name.to_owned(),
        }
    }

    /// Makes an error about the value.
    fn error(&self, what: &str) -> PyErr {
        let text = self.text();
        let prefix = if text.is_empty() { text } else { format!("{text}: ") };
        PyValueError::new_err(format!("{prefix}{what}"))
    }

    /// Makes the error for a value that does not fit.
    fn unfit(&self, data: &Bound<'_, PyAny>) -> PyErr {
        /// Characters of the value that are shown.
        const SHOWN: usize = 40;
        let json = data.py().import("json").and_then(|json| json.call_method1("dumps", (data,)));
        let shown = match json.and_then(|text| text.extract::<String>()) {
            Ok(text) => text.chars().take(SHOWN).collect(),
            Err(_) => "this value".to_owned(),
        };
        self.error(&format!("cannot be {shown}"))
    }
}

/// A value that is its own plain data. Python has no other test for a flag: to it alone a flag is
/// a whole number.
macro_rules! plain {
    ($($type:ty: $($class:ident)|+;)*) => {$(
        impl Value for $type {
            fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(self.clone().into_pyobject(py)?.to_owned().into_any())
            }
            fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self> {
                let fits = $(data.is_exact_instance_of::<$class>())||+;
                let value = fits.then(|| data.extract().ok()).flatten();
                value.ok_or_else(|| path.unfit(data))
            }
        }
    )*};
}

plain! {
    u8: PyInt;
    u32: PyInt;
    u64: PyInt;
    f64: PyFloat | PyInt;
    bool: PyBool;
    String: PyString;
}

/// `None` is null, but a priority that is `None` is no key at all.
macro_rules! optional {
    ($($type:ty, may be absent: $absent:literal;)*) => {$(
        impl Value for Option<$type> {
            fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |it| it.to_object(py))
            }
            fn to_plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.as_ref().map_or_else(|| Ok(py.None().into_bound(py)), |it| it.to_plain(py))
            }
            const MAY_BE_ABSENT: bool = $absent;

            fn is_absent(&self) -> bool {
                $absent && self.is_none()
            }
            fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self> {
                if data.is_none() { Ok(None) } else { Value::read(data, path).map(Some) }
            }
        }
    )*};
}

optional! {
    u8, may be absent: true;
    u64, may be absent: false;
    f64, may be absent: false;
    results::Deadlock, may be absent: false;
}

impl<T: Value> Value for Vec<T> {
    fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = self.iter().map(|item| item.to_object(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }
    fn to_plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let items = self.iter().map(|item| item.to_plain(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, items)?.into_any())
    }
    fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self> {
        let list = data.cast::<PyList>().map_err(|_| path.unfit(data))?;
        let items = list.iter().enumerate();
        items.map(|(index, item)| T::read(&item, &path.at(&index.to_string()))).collect()
    }
}

impl<T: Value> Value for BTreeMap<String, T> {
    fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = PyDict::new(py);
        self.iter().try_for_each(|(key, value)| table.set_item(key, value.to_object(py)?))?;
        Ok(table.into_any())
    }
    fn to_plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let table = PyDict::new(py);
        self.iter().try_for_each(|(key, value)| table.set_item(key, value.to_plain(py)?))?;
        Ok(table.into_any())
    }
    fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self> {
        let table = data.cast::<PyDict>().map_err(|_| path.unfit(data))?;
        let read = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key: String = key.extract().map_err(|_| path.unfit(data))?;
            let value = T::read(&value, &path.at(&key))?;
            Ok((key, value))
        };
        table.iter().map(read).collect()
    }
}

/// The value of a key of a table; `None` if there is no such key.
fn value_of<'py>(table: &Bound<'py, PyDict>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    Ok(table.get_item(key)?.unwrap_or_else(|| table.py().None().into_bound(table.py())))
}

/// Whether plain data needs a key for this field of a record.
fn is_needed<R, T: Value>(_: fn(&R) -> &T) -> bool {
    !T::MAY_BE_ABSENT
}

/// Makes the class of a struct of `results`.
macro_rules! class {
    (
        $(#[doc = $about:literal])*
        $name:ident { $($(#[doc = $doc:literal])* $field:ident,)* }
    ) => {
        $(#[doc = $about])*
        ///
        /// Its values are attributes, and read as those of a dictionary too. It never changes.
        #[pyclass(frozen, module = "rocelab._rocelab")]
        pub(crate) struct $name(pub(crate) results::$name);

        impl Value for results::$name {
            fn to_object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(Bound::new(py, $name(self.clone()))?.into_any())
            }
            fn to_plain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                let table = PyDict::new(py);
                $(if !self.$field.is_absent() {
                    table.set_item(stringify!($field), self.$field.to_plain(py)?)?;
                })*
                Ok(table.into_any())
            }
            fn read(data: &Bound<'_, PyAny>, path: &KeyPath<'_>) -> PyResult<Self> {
                let table = data.cast::<PyDict>().map_err(|_| path.error("not a table"))?;
                let mut missing = Vec::new();
                $(if is_needed(|it: &results::$name| &it.$field)
                    && !table.contains(stringify!($field))?
                {
                    missing.push(stringify!($field));
                })*
                if !missing.is_empty() {
                    return Err(path.error(&format!("has no {}", missing.join(", "))));
                }
                Ok(results::$name {$(
                    $field: Value::read(
                        &value_of(table, stringify!($field))?,
                        &path.at(stringify!($field)),
                    )?,
                )*})
            }
        }

        #[pymethods]
        impl $name {
            $($(#[doc = $doc])*
            #[getter]
            fn $field<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.0.$field.to_object(py)
            })*

            /// Reads it from plain data, as `to_dict` returns it. Keys that it does not have are
            /// ignored. Raises `ValueError` if one is missing, or if a value does not fit.
            #[classmethod]
            fn from_dict(_: &Bound<'_, PyType>, data: &Bound<'_, PyAny>) -> PyResult<$name> {
                Value::read(data, &KeyPath::TOP).map($name)
            }

            /// All of it as plain data: dictionaries, lists, text, numbers.
            fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                self.0.to_plain(py)
            }

            /// The names of its values.
            fn keys(&self) -> Vec<&'static str> {
                let mut keys = Vec::new();
                $(if !self.0.$field.is_absent() {
                    keys.push(stringify!($field));
                })*
                keys
            }

            /// Its values.
            fn values<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyAny>>> {
                self.keys().into_iter().map(|key| self.__getitem__(py, key)).collect()
            }

            /// Pairs of the names and the values.
            fn items<'py>(
                &self,
                py: Python<'py>,
            ) -> PyResult<Vec<(&'static str, Bound<'py, PyAny>)>> {
                self.keys().into_iter().map(|key| Ok((key, self.__getitem__(py, key)?))).collect()
            }

            /// The value called `key`, or `default` if there is none.
            #[pyo3(signature = (key, default=None, /))]
            fn get<'py>(
                &self,
                py: Python<'py>,
                key: &str,
                default: Option<Bound<'py, PyAny>>,
            ) -> PyResult<Option<Bound<'py, PyAny>>> {
                let found = self.__contains__(key).then(|| self.__getitem__(py, key));
                found.transpose().map(|value| value.or(default))
            }

            fn __getitem__<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Bound<'py, PyAny>> {
                match key {
                    $(stringify!($field) if !self.0.$field.is_absent() => {
                        self.0.$field.to_object(py)
                    })*
                    _ => Err(PyKeyError::new_err(key.to_owned())),
                }
            }

            fn __contains__(&self, key: &str) -> bool {
                self.keys().contains(&key)
            }

            fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                Ok(PyList::new(py, self.keys())?.try_iter()?.into_any())
            }

            fn __len__(&self) -> usize {
                self.keys().len()
            }

            fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<bool> {
                match other.cast::<$name>() {
                    Ok(other) => Ok(self.0 == other.get().0),
                    Err(_) => self.to_dict(py)?.eq(other),
                }
            }

            fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
                Ok(format!("{}({})", stringify!($name), self.to_dict(py)?.repr()?))
            }

            fn __reduce__<'py>(
                slf: &Bound<'py, $name>,
            ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
                let read = slf.get_type().getattr("from_dict")?;
                Ok((read, (slf.get().to_dict(slf.py())?,)))
            }
        }
    };
}

deadlock_fields!(class);
series_fields!(class);
size_bin_fields!(class);
slowdown_fields!(class);
summary_fields!(class);
tag_fields!(class);
trace_fields!(class);
unfinished_fields!(class);
warning_fields!(class);

/// Adds the classes to `module`. Python takes them for mappings.
pub(crate) fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let mapping = module.py().import("collections.abc")?.getattr("Mapping")?;
    macro_rules! add {
        ($($name:ident)*) => {$(
            module.add_class::<$name>()?;
            mapping.call_method1("register", (module.py().get_type::<$name>(),))?;
        )*};
    }
    add!(Deadlock SeriesInfo SizeBin SlowdownStatistics Summary TagStatistics TraceInfo);
    add!(Unfinished WarningInfo);
    Ok(())
}
