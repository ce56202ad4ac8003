import type { Wording } from './wording.ts'

const codeAndLinkExpire = (code: string, link: string) =>
  code === link
    ? `Code und Link sind ${code} gültig und nur einmal verwendbar.`
    : `Der Code ist ${code} gültig, der Link ${link}. Beide sind nur einmal verwendbar.`
const codeExpires = (lifetime: string) =>
  `Der Code ist ${lifetime} gültig und nur einmal verwendbar.`
const whyYouGotThis = (tenantName: string) =>
  `Du erhältst diese E-Mail, weil dein Konto bei ${tenantName} diese Adresse verwendet.`
const IF_UNEXPECTED =
  'Wenn du diese E-Mail nicht angefordert hast, hat eine andere Person deine Adresse eingegeben: Ignoriere sie und bestätige nichts.'

/** Addresses the reader as "du". */
export const german: Wording = {
  orOpen: 'Oder kopiere diesen Link in deinen Browser:',
  contacts: { support: 'Support', terms: 'Nutzungsbedingungen', privacy: 'Datenschutz' },

  verification: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Bestätige deine E-Mail-Adresse für ${tenantName}`,
    heading: 'Bestätige deine E-Mail-Adresse',
    paragraphs: [
      `Um deine E-Mail-Adresse für ${tenantName} zu bestätigen, gib diesen Code ein oder öffne den Link unten.`,
    ],
    button: 'E-Mail-Adresse bestätigen',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} ${IF_UNEXPECTED}`,
  }),

  recovery: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Stelle dein Konto bei ${tenantName} wieder her`,
    heading: 'Stelle dein Konto wieder her',
    paragraphs: [
      `Wir haben eine Anfrage erhalten, dein Konto bei ${tenantName} wiederherzustellen. Gib diesen Code ein oder öffne den Link unten, um fortzufahren.`,
    ],
    button: 'Konto wiederherstellen',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} Wenn du das nicht warst, ignoriere diese E-Mail: Noch hat sich nichts geändert. Gib Code und Link niemals weiter.`,
  }),

  loginCode: ({ tenantName, lifetime }) => ({
    subject: `Dein Anmeldecode für ${tenantName}`,
    heading: 'Dein Anmeldecode',
    paragraphs: [
      `Gib diesen Code ein, um dich bei ${tenantName} anzumelden.`,
      'Gib ihn niemals weiter: Er gewährt Zugriff auf dein Konto.',
    ],
    footer: `${codeExpires(lifetime)} Wenn du dich nicht anmelden wolltest, ignoriere diese E-Mail.`,
  }),

  registrationCode: ({ tenantName, lifetime }) => ({
    subject: `Dein Bestätigungscode für ${tenantName}`,
    heading: 'Dein Bestätigungscode',
    paragraphs: [
      `Gib diesen Code ein, um deine E-Mail-Adresse zu bestätigen und dein Konto bei ${tenantName} zu erstellen.`,
    ],
    footer: `${codeExpires(lifetime)} Wenn du kein Konto erstellen wolltest, hat eine andere Person deine Adresse eingegeben: Ignoriere diese E-Mail, bestätige nichts und gib den Code nicht weiter.`,
  }),

  emailChange: ({ tenantName, lifetime, linkLifetime }) => ({
    subject: `Bestätige deine neue E-Mail-Adresse für ${tenantName}`,
    heading: 'Bestätige deine neue E-Mail-Adresse',
    paragraphs: [
      `Um diese E-Mail-Adresse für dein Konto bei ${tenantName} zu verwenden, gib diesen Code ein oder öffne den Link unten. Bis dahin behält dein Konto die bisherige Adresse.`,
    ],
    button: 'Neue E-Mail-Adresse bestätigen',
    footer: `${codeAndLinkExpire(lifetime, linkLifetime)} ${IF_UNEXPECTED}`,
  }),

  emailChangeNotice: ({ tenantName, shownAddress }) => ({
    subject: `Änderung der E-Mail-Adresse für ${tenantName} angefordert`,
    heading: 'Änderung der E-Mail-Adresse angefordert',
    paragraphs: [
      `Wir haben eine Anfrage erhalten, die E-Mail-Adresse deines Kontos bei ${tenantName} in ${shownAddress} zu ändern. Die neue Adresse ersetzt diese, sobald sie bestätigt ist.`,
      `Wenn du das nicht warst, ändere sofort dein Passwort und wende dich an ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),

  emailChangedByAdmin: ({ tenantName, shownAddress }) => ({
    subject: `Deine E-Mail-Adresse bei ${tenantName} wurde geändert`,
    heading: 'Deine E-Mail-Adresse wurde geändert',
    paragraphs: [
      `Ein Administrator hat die E-Mail-Adresse deines Kontos bei ${tenantName} in ${shownAddress} geändert. Du kannst dich mit dieser Adresse nicht mehr anmelden und das Konto nicht mehr damit wiederherstellen.`,
      `Wenn du nicht darum gebeten hast, wende dich sofort an ${tenantName}.`,
    ],
    footer: `Du erhältst diese E-Mail, weil dein Konto bei ${tenantName} bisher diese Adresse verwendet hat.`,
  }),

  passwordChanged: ({ tenantName }) => ({
    subject: `Dein Passwort bei ${tenantName} wurde geändert`,
    heading: 'Dein Passwort wurde geändert',
    paragraphs: [
      `Das Passwort deines Kontos bei ${tenantName} wurde geändert.`,
      `Wenn du das nicht warst, stelle dein Konto sofort mit dieser E-Mail-Adresse wieder her und wende dich an ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),

  secondFactorChanged: ({ tenantName, isOn }) => ({
    subject: `Zwei-Faktor-Authentifizierung für ${tenantName} ${isOn ? 'aktiviert' : 'deaktiviert'}`,
    heading: `Zwei-Faktor-Authentifizierung ${isOn ? 'aktiviert' : 'deaktiviert'}`,
    paragraphs: [
      isOn
        ? `Die Anmeldung bei ${tenantName} erfordert jetzt zusätzlich einen Code aus deiner Authenticator-App.`
        : `Die Anmeldung bei ${tenantName} erfordert keinen Code aus einer Authenticator-App mehr.`,
      `Wenn du das nicht warst, ändere sofort dein Passwort und wende dich an ${tenantName}.`,
    ],
    footer: whyYouGotThis(tenantName),
  }),
}
