package config

import (
	"errors"
	"fmt"
	"reflect"
)

// validate asks every part of the configuration that can say so whether it is
// usable, inner parts first, and names the part.
func (l *loading) validate() error { return validateValue(l.root, "") }

func validateValue(v reflect.Value, key string) error {
	var errs []error
	switch v.Kind() {
	case reflect.Struct:
		if isText(v.Type()) {
			return nil
		}
		for i := range v.NumField() {
			if name, inline, ok := fieldKey(v.Type().Field(i)); ok && !inline {
				errs = append(errs, validateValue(v.Field(i), join(key, name)))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			errs = append(errs, validateValue(v.Index(i), fmt.Sprintf("%s[%d]", key, i)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		// The whole builds on its parts: it is not asked before they are right.
		return err
	}
	checked, ok := v.Addr().Interface().(interface{ Validate() error })
	if !ok {
		return nil
	}
	if err := checked.Validate(); err != nil && key != "" {
		return fmt.Errorf("%s: %w", key, err)
	} else {
		return err
	}
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}
