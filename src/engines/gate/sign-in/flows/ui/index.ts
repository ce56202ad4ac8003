export {
  confirmChoice,
  isLinkSecret,
  recoveryCodeSent,
  recoveryStart,
  verificationCodeSent,
  verificationDone,
  verificationStart,
} from './address-nodes.ts'
export { csrfNode } from './builders.ts'
export { emailNode, emailTrait } from './email-nodes.ts'
export {
  codeLogin,
  codeLoginSent,
  identifierNode,
  lookupLogin,
  passwordLogin,
  totpLogin,
} from './login-nodes.ts'
export { createSay, type MessageId, type Say } from './messages.ts'
export { displayNameTrait } from './name-nodes.ts'
export { aboutProvider, providerName } from './providers.ts'
export {
  codeRegistration,
  codeRegistrationSent,
  passwordRegistration,
} from './registration-nodes.ts'
export {
  lookupNone,
  lookupSet,
  lookupShown,
  passwordSettings,
  profileSettings,
  totpSet,
  totpSetup,
} from './settings-nodes.ts'
export { socialButtons, socialSettings } from './social-nodes.ts'
export { withMessage } from './with-message.ts'
