/**
 * English texts by message id. Front ends translate by id, so the meaning of an id never changes.
 * Ids from 1000000 inform, from 4000000 report invalid input, from 5000000 a failure of the server;
 * those that start with 19 or 49 exist only in Gatehouse. `{name}` is replaced by the context value
 * of that name.
 */
export const english = {
  texts: {
    // Signing in.
    1010001: 'Sign in',
    1010002: 'Continue with {provider}',
    1010003: "Sign in again to confirm that it's you.",
    1010004: "To finish signing in, confirm that it's you.",
    1010006: 'Code from your authenticator app',
    1010007: 'Recovery code',
    1010009: 'Sign in with authenticator app',
    1010010: 'Sign in with recovery code',
    1010014:
      "If an account exists for this email address, we've sent a code to it. Enter the code below.",
    1010015: 'Email me a sign-in code',
    1010016:
      'An account with {duplicate_identifier} already exists. Sign in to connect {provider} to it.',
    1010022: 'Sign in with password',
    1010023: 'Send a code to {address}',
    1010025: "We've sent a code to your email address. Enter it below.",

    // Signing up.
    1040001: 'Create account',
    1040002: 'Continue with {provider}',
    1040005: "We've sent a code to this email address. Enter it below to create your account.",
    1040006: 'Sign up with an email code',

    // Settings.
    1050001: 'Your changes have been saved.',
    1050002: 'Connect {provider}',
    1050003: 'Disconnect {provider}',
    1050004: 'Remove authenticator app',
    1050005: 'Scan this QR code with your authenticator app',
    1050006: '{secret}',
    1050007: 'Show recovery codes',
    1050008: 'Generate recovery codes',
    1050009: '{secret}',
    1050010: "Save these recovery codes now. They won't be shown again. Each code works once.",
    1050011: "I've saved my recovery codes",
    1050014: 'Already used',
    1050015: '{secrets}',
    1050016: 'Remove recovery codes',
    1050017: 'Or enter this setup key in the app',

    // Recovery.
    1060001: "You're signed in again. Set a new password now.",
    1060003:
      "If an account exists for this email address, we've sent an email to it. Enter the code from the email, or open the link in the most recent email.",

    // Labels of fields and buttons in several forms.
    1070001: 'Password',
    1070002: '{title}',
    1070003: 'Save',
    1070004: 'Email address',
    1070005: 'Submit',
    1070006: 'Code from your authenticator app',
    1070007: 'Email address',
    1070008: 'Resend code',
    1070009: 'Continue',
    1070010: 'Verification code',
    1070011: 'Verification code',
    1070012: 'Verification code',
    1070013: 'Verification code',

    // Verification.
    1080002: 'Your email address is verified.',
    1080003:
      "If this email address still needs to be verified, we've sent an email to it. Enter the code from the email, or open the link in the most recent email.",

    1900001: 'Sign in to connect {provider} to your account.',
    1900003: "{provider} didn't share your email address. Enter it to finish signing up.",
    1900004: 'Name',
    1900002: "We've sent a code to {address}. Your email address changes when you enter the code.",

    1900005: 'Sign in to verify {address}.',
    1900006:
      "Sign in to confirm that this account is yours. If you didn't create it or forgot the password, take over the account instead. This removes its password and other credentials, and ends all sessions.",
    1900007: 'Sign in to verify the new email address of your account.',
    1900008: 'Sign in to verify',
    1900009: 'Take over account',
    1900010:
      'Continue to recover the account of {address}. This ends all other sessions and lets you set a new password.',
    1900011: 'Continue to verify {address}.',
    1900012: "You're signed in as {address}.",
    1900013: "Your account is ready. You're signed in as {address}.",
    1900014:
      "This service can't send emails right now, so you can't recover your account here. Contact support.",
    1900015:
      "Gatehouse can't send emails yet, so you can't recover your account here. Ask an administrator for a sign-in link.",
    1900016:
      "This service can't send emails right now, so you can't verify your email address here. Contact support.",

    // Fields.
    4000001: 'Invalid input: {reason}',
    4000002: '{property} is required.',
    4000003: 'Enter at least {min_length} characters.',
    4000004: 'The format is invalid. Check what you entered.',
    4000005: "This password can't be used: {reason}",
    4000006: 'Incorrect email address or password. Check both and try again.',
    4000007: 'An account with this email address already exists. Sign in, or recover your account.',
    4000008: 'Incorrect code. Enter the code that your authenticator app shows now.',
    4000010: "Your email address isn't verified yet. Enter the code from our email to verify it.",
    4000011: 'No authenticator app is set up for this account. Choose another method.',
    4000012: 'This recovery code has already been used. Use another one.',
    4000014: 'This account has no recovery codes. Choose another method.',
    4000016: 'Incorrect recovery code. Check it, or use another one.',
    4000017: 'Enter no more than {max_length} characters.',
    4000026: "This value can't be read. Enter it again.",
    4000027:
      'This {provider} account is connected to another user, or your account is connected to a different {provider} account. Disconnect that account first.',
    4000028:
      'An account with this email address already exists. Sign in with the method you used before.',
    4000031: 'This password is too similar to your email address. Choose another one.',
    4000032: 'This password is too short. Use at least {min_length} characters.',
    4000033: 'This password is too long. Use no more than {max_length} characters.',
    4000034:
      'This password appeared in a data breach. Choose another one, and change it wherever else you use it.',
    4000035: "You can't sign in to this account with a code. Choose another method.",
    4000036: 'Your details changed after the code was sent. Request a new code.',
    4000037: "This account doesn't exist. Check the email address, or sign up.",
    4000039: 'This is your current password. Choose a new one.',
    4000040: 'Enter a valid email address.',

    // Whole flows: expired, already complete, or submitted without a method.
    4010001: 'This sign-in has expired. Start again.',
    4010002: 'Choose how to sign in.',
    4010003: 'Choose how to sign up.',
    4010004: 'Choose what to change.',
    4010005: 'Enter your email address, or the code we sent to it.',
    4010006: 'Enter your email address, or the code we sent to it.',
    4010007: 'This sign-in is already complete. To sign in again, start over.',
    4010008: 'This code is incorrect or has expired. Check it, or request a new one.',
    4010011: 'This account is deactivated. Contact support.',
    4040001: 'This sign-up has expired. Start again.',
    4040002: 'Your account has already been created. Sign in to use it.',
    4040003: 'This code is incorrect or has expired. Check it, or request a new one.',
    4050001: 'This settings page has expired. Open it again.',
    4060001: 'This recovery is already complete. To recover an account again, start over.',
    4060005: 'This recovery has expired. Start again.',
    4060006: 'This code is incorrect or has expired. Check it, or request a new one.',
    4070002: "This email address is already verified. You don't need to do anything.",
    4070005: 'This verification has expired. Start again.',
    4070006: 'This code is incorrect or has expired. Check it, or request a new one.',

    4900001: 'Too many incorrect codes. Start again.',
    4900002: 'Too many attempts. Try again in {seconds}.',
    4900003:
      'Sign-in with {provider} was denied or cancelled. Try again, or choose another method.',
    4900004: '{provider} sent an invalid response. Try again, or choose another method.',
    4900005:
      'An account with this email address already exists. Sign in to it first, then connect {provider} in its settings.',
    4900006: 'This password is too common. Choose another one.',
    4900007: "Recovery codes can't be shown again. Generate new ones.",
    4900009: "This provider isn't available here. Choose another method.",
    4900010: 'This email address is already in use. Use another one.',
    4900011:
      "Without this, you couldn't sign in. Set a password or connect another account before you remove it.",
    4900013: 'No account here matches your {provider} account. Ask an administrator to invite you.',
    4900014: 'Sign in to this account first, then enter the code again.',
    4900016: "This service can't send emails right now. Contact support.",
    4900012: 'This link is incomplete. Copy the whole link from the email.',

    5000001: 'Something went wrong on our side. Try again in a moment.',
  },

  /** Display names of fields, in the case that starts a sentence. */
  fields: {
    identifier: 'Email address',
    email: 'Email address',
    traits: 'Email address',
    'traits.email': 'Email address',
    'traits.display_name': 'Name',
    password: 'Password',
    code: 'Verification code',
    totp_code: 'Code from your authenticator app',
    lookup_secret: 'Recovery code',
    provider: 'Provider',
  },
}

export type MessageId = keyof typeof english.texts

/** The texts of one language. A missing or unknown id does not compile. */
export interface Words {
  texts: Record<MessageId, string>
  fields: Record<keyof typeof english.fields, string>
}
