/**
 * What is said in English. An id means the same for good, since front ends translate by it: those
 * from 1000000 on inform, from 4000000 on they refuse, and from 5000000 on something broke. 19 and
 * 49 in front mark those that Gatehouse alone has. `{name}` stands for what the context holds
 * under that name.
 */
export const english = {
  texts: {
    // Signing in.
    1010001: 'Sign in',
    1010002: 'Sign in with {provider}',
    1010003: 'Please sign in once more, so that we know it is you.',
    1010004: 'One more step: show in a second way that it is you.',
    1010006: 'Code from your authenticator app',
    1010007: 'One of your recovery codes',
    1010009: 'Sign in with the code of the app',
    1010010: 'Sign in with a recovery code',
    1010014: 'If there is an account with this address, a code is on its way there. Enter it here.',
    1010015: 'Send me a code by e-mail',
    1010016:
      'There is an account for {duplicate_identifier} already. Sign in to it, and {provider} is connected.',
    1010022: 'Sign in with password',
    1010023: 'Send a code to {address}',
    1010025: 'A code is on its way to your address. Enter it here.',

    // Signing up.
    1040001: 'Create account',
    1040002: 'Sign up with {provider}',
    1040005: 'A code is on its way to this address. Enter it here to create your account.',
    1040006: 'Sign up with a code by e-mail',

    // Settings.
    1050001: 'Your changes are saved.',
    1050002: 'Connect {provider}',
    1050003: 'Disconnect {provider}',
    1050004: 'Remove the authenticator app',
    1050005: 'Scan this with your authenticator app',
    1050006: '{secret}',
    1050007: 'Show the recovery codes',
    1050008: 'Make new recovery codes',
    1050009: '{secret}',
    1050010: 'Write these recovery codes down: they are shown this once. Each works one time.',
    1050011: 'I have written them down',
    1050014: 'This code has been used.',
    1050015: '{secrets}',
    1050016: 'Remove the recovery codes',
    1050017: 'Or type this key into the app',

    // Recovery.
    1060001: 'You are signed in again. Please choose a new password now.',
    1060003:
      'If there is an account with this address, we sent a mail there. Enter its code here, or open the link in the latest mail.',

    // What fields and buttons of several forms are called.
    1070001: 'Password',
    1070002: '{title}',
    1070003: 'Save',
    1070004: 'E-mail address',
    1070005: 'Submit',
    1070006: 'Code that the app shows',
    1070007: 'E-mail address',
    1070008: 'Send another code',
    1070009: 'Continue',
    1070010: 'Code from the e-mail',
    1070011: 'Code from the e-mail',
    1070012: 'Code from the e-mail',
    1070013: 'Code from the e-mail',

    // Verification.
    1080002: 'Thank you, your address is confirmed.',
    1080003:
      'If this address still has to be confirmed, we sent a mail there. Enter its code here, or open the link in the latest mail.',

    1900001: 'Sign in, and {provider} is connected to your account.',
    1900003: '{provider} has not told us your e-mail address. Enter it, and you are done.',
    1900004: 'Name',
    1900002:
      'Your address stays as it is until you enter the code that was sent to {address}. Then it changes.',

    1900005: 'Sign in to confirm {address}.',
    1900006:
      'Sign in to confirm that this account is yours. Did not create it, or forgot the password? Take over the account: this removes its password and other credentials, and ends all sessions.',
    1900007: 'Sign in to your account to confirm its new address.',
    1900008: 'Sign in to confirm',
    1900009: 'Take over the account',
    1900010:
      'Continue to get back into the account of {address}. All other sessions end, and you can set a new password.',
    1900011: 'Continue to confirm {address}.',
    1900012: 'You are signed in as {address}.',
    1900013: 'Your account is ready. You are signed in as {address}.',

    // Fields.
    4000001: 'That did not work: {reason}',
    4000002: 'Please fill this in: {property}.',
    4000003: 'Please enter at least {min_length} characters.',
    4000004: 'This is not written as it is expected here. Please check it.',
    4000005: 'Please choose another password: {reason}',
    4000006: 'The address or the password is not right. Please check both and try again.',
    4000007: 'There is an account with this address already. Sign in to it, or recover it.',
    4000008: 'This code is not right. Please enter the one that the app shows now.',
    4000010: 'This address is not confirmed yet. Please confirm it with the code from our mail.',
    4000011: 'No authenticator app is set up for this account. Please choose another way.',
    4000012: 'This recovery code has been used before. Please take another one.',
    4000014: 'There are no recovery codes for this account. Please choose another way.',
    4000016: 'This recovery code is not right. Please check it, or take another one.',
    4000017: 'Please enter at most {max_length} characters.',
    4000026: 'This cannot be read. Please enter it again.',
    4000027:
      'This sign-in belongs to another account here. Sign in to that one, or disconnect it there first.',
    4000028:
      'There is an account with this address already. Sign in to it in the way you used before.',
    4000031: 'This password is too much like your address. Please choose another one.',
    4000032: 'This password is too short. Please use at least {min_length} characters.',
    4000033: 'This password is too long. Please use at most {max_length} characters.',
    4000034:
      'This password has turned up in stolen data. Please choose another one, here and wherever else you use it.',
    4000035: 'There is no sign-in by code for this account. Please choose another way.',
    4000036: 'Your details have changed since the code was sent. Please ask for a new code.',
    4000037: 'There is no such account. Please check the address, or sign up.',
    4000039: 'This is the password that you have now. Please choose a new one.',
    4000040: 'This does not look like an e-mail address. Please check it.',

    // Whole flows: too old, complete already, or sent without saying what for.
    4010001: 'Signing in took too long. Please start again.',
    4010002: 'Please choose how you want to sign in.',
    4010003: 'Please choose how you want to sign up.',
    4010004: 'Please choose what you want to change.',
    4010005: 'Please enter your address, or the code that was sent there.',
    4010006: 'Please enter your address, or the code that was sent there.',
    4010007: 'This sign-in is complete. To sign in once more, please start again.',
    4010008: 'This code is not right, or no longer good. Check it, or ask for another one.',
    4010011: 'This account is deactivated. Please turn to those who run this service.',
    4040001: 'Signing up took too long. Please start again.',
    4040002: 'Your account has been created with this form. Please sign in.',
    4040003: 'This code is not right, or no longer good. Check it, or ask for another one.',
    4050001: 'The settings were open for too long. Please open them again.',
    4060001: 'This recovery is complete. To recover an account once more, please start again.',
    4060005: 'The recovery took too long. Please start again.',
    4060006: 'This code is not right, or no longer good. Check it, or ask for another one.',
    4070002: 'This address has been confirmed. There is nothing left to do here.',
    4070005: 'Confirming the address took too long. Please start again.',
    4070006: 'This code is not right, or no longer good. Check it, or ask for another one.',

    4900001: 'Too many wrong codes. Please start again.',
    4900002: 'Too many tries. Please try again in {seconds}.',
    4900003:
      'Signing in with {provider} was refused or cancelled. Try again, or choose another way.',
    4900004:
      '{provider} has answered in a way that we cannot use. Try again, or choose another way.',
    4900005:
      'There is an account with this address already. Sign in to it first, then connect the provider in its settings.',
    4900006: 'Many people have this password, so it is soon guessed. Please choose another one.',
    4900007: 'Recovery codes cannot be shown again. Please make new ones.',
    4900009: 'This provider is not offered here. Please choose another way.',
    4900010: 'Somebody has this address already. Please choose another one.',
    4900011:
      'You could not sign in without this. Set a password or connect another account, then remove it.',
    4900013:
      'There is no account here for yours at {provider}. Please ask those who run this service to invite you.',
    4900014: 'Sign in to this account first, then enter the code again.',
    4900012: 'This link is incomplete. Please copy it from the mail as a whole.',

    5000001: 'Something went wrong on our side. Please try again in a moment.',
  },

  /** Fields by their names, as people know them. */
  fields: {
    identifier: 'e-mail address',
    email: 'e-mail address',
    traits: 'e-mail address',
    'traits.email': 'e-mail address',
    'traits.display_name': 'name',
    password: 'password',
    code: 'code from the e-mail',
    totp_code: 'code of the app',
    lookup_secret: 'recovery code',
    provider: 'provider',
  },
}

export type MessageId = keyof typeof english.texts

/** A language that lacks a text, or has one that nobody asks for, does not compile. */
export interface Words {
  texts: Record<MessageId, string>
  fields: Record<keyof typeof english.fields, string>
}
