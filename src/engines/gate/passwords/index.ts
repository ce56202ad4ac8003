export { type ImportedHash, parseHash } from './formats.ts'
export { createHashing, type Hashing } from './hashing.ts'
export { checkPasswordLength } from './password-length.ts'
export { checkNewPassword, type PolicyFailure } from './password-policy.ts'
