export { displayNameTrait, emailNode, emailTrait } from './account-nodes.ts'
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
export {
  codeLogin,
  codeLoginSent,
  identifierNode,
  lookupLogin,
  passwordLogin,
  totpLogin,
} from './login-nodes.ts'
export { createSay, type MessageId, type Say } from './messages.ts'
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
