import type { Words } from './words-en.ts'

/** What is said in German, to people whom we are on first-name terms with. */
export const german: Words = {
  texts: {
    // Signing in.
    1010001: 'Anmelden',
    1010002: 'Mit {provider} anmelden',
    1010003: 'Bitte melde dich noch einmal an, damit wir wissen, dass du es bist.',
    1010004: 'Noch ein Schritt: Zeig auf einem zweiten Weg, dass du es bist.',
    1010006: 'Code aus deiner Authenticator-App',
    1010007: 'Einer deiner Wiederherstellungscodes',
    1010009: 'Mit dem Code aus der App anmelden',
    1010010: 'Mit einem Wiederherstellungscode anmelden',
    1010014:
      'Wenn zu dieser Adresse ein Konto gehört, ist ein Code dorthin unterwegs. Gib ihn hier ein.',
    1010015: 'Code per E-Mail schicken',
    1010016:
      'Für {duplicate_identifier} gibt es schon ein Konto. Melde dich dort an, dann wird {provider} damit verbunden.',
    1010022: 'Mit Passwort anmelden',
    1010023: 'Code an {address} schicken',
    1010025: 'Ein Code ist an deine Adresse unterwegs. Gib ihn hier ein.',

    // Signing up.
    1040001: 'Konto anlegen',
    1040002: 'Mit {provider} registrieren',
    1040005: 'Ein Code ist an diese Adresse unterwegs. Gib ihn hier ein, um dein Konto anzulegen.',
    1040006: 'Mit einem Code per E-Mail registrieren',

    // Settings.
    1050001: 'Deine Änderungen sind gespeichert.',
    1050002: '{provider} verbinden',
    1050003: '{provider} trennen',
    1050004: 'Authenticator-App entfernen',
    1050005: 'Scanne dies mit deiner Authenticator-App',
    1050006: '{secret}',
    1050007: 'Wiederherstellungscodes anzeigen',
    1050008: 'Neue Wiederherstellungscodes erzeugen',
    1050009: '{secret}',
    1050010:
      'Schreib dir diese Wiederherstellungscodes auf: Sie werden nur dieses eine Mal angezeigt. Jeder gilt einmal.',
    1050011: 'Ich habe sie aufgeschrieben',
    1050014: 'Dieser Code ist verbraucht.',
    1050015: '{secrets}',
    1050016: 'Wiederherstellungscodes entfernen',
    1050017: 'Oder gib diesen Schlüssel in die App ein',

    // Recovery.
    1060001: 'Du bist wieder angemeldet. Bitte wähle jetzt ein neues Passwort.',
    1060003:
      'Wenn zu dieser Adresse ein Konto gehört, haben wir dorthin eine Mail geschickt. Gib ihren Code hier ein oder öffne den Link in der neuesten Mail.',

    // What fields and buttons of several forms are called.
    1070001: 'Passwort',
    1070002: '{title}',
    1070003: 'Speichern',
    1070004: 'E-Mail-Adresse',
    1070005: 'Absenden',
    1070006: 'Code, den die App anzeigt',
    1070007: 'E-Mail-Adresse',
    1070008: 'Neuen Code schicken',
    1070009: 'Weiter',
    1070010: 'Code aus der E-Mail',
    1070011: 'Code aus der E-Mail',
    1070012: 'Code aus der E-Mail',
    1070013: 'Code aus der E-Mail',

    // Verification.
    1080002: 'Danke, deine Adresse ist bestätigt.',
    1080003:
      'Wenn diese Adresse noch bestätigt werden muss, haben wir dorthin eine Mail geschickt. Gib ihren Code hier ein oder öffne den Link in der neuesten Mail.',

    1900001: 'Melde dich an, dann wird {provider} mit deinem Konto verbunden.',
    1900003:
      '{provider} hat uns deine E-Mail-Adresse nicht genannt. Gib sie ein, dann bist du fertig.',
    1900004: 'Dein Name',
    1900002:
      'Deine Adresse bleibt, wie sie ist, bis du den Code eingibst, der an {address} ging. Dann ändert sie sich.',

    1900005: 'Melde dich an, um {address} zu bestätigen.',
    1900006:
      'Melde dich an, um zu bestätigen, dass dieses Konto dir gehört. Nicht von dir angelegt oder Passwort vergessen? Übernimm das Konto: Das entfernt Passwort und andere Zugangsdaten und beendet alle Sitzungen.',
    1900007: 'Melde dich bei deinem Konto an, um dessen neue Adresse zu bestätigen.',
    1900008: 'Anmelden und bestätigen',
    1900009: 'Konto übernehmen',
    1900010:
      'Mach weiter, um wieder in das Konto von {address} zu kommen. Alle anderen Sitzungen enden, und du kannst ein neues Passwort festlegen.',
    1900011: 'Mach weiter, um {address} zu bestätigen.',
    1900012: 'Du bist als {address} angemeldet.',
    1900013: 'Dein Konto ist bereit. Du bist als {address} angemeldet.',

    // Fields.
    4000001: 'Das hat nicht geklappt: {reason}',
    4000002: 'Bitte ausfüllen: {property}.',
    4000003: 'Bitte gib mindestens {min_length} Zeichen ein.',
    4000004: 'Das ist nicht so geschrieben, wie es hier erwartet wird. Bitte prüfe es.',
    4000005: 'Bitte wähle ein anderes Passwort: {reason}',
    4000006:
      'Die Adresse oder das Passwort stimmt nicht. Bitte prüfe beides und versuche es noch einmal.',
    4000007:
      'Zu dieser Adresse gibt es schon ein Konto. Melde dich dort an oder stelle es wieder her.',
    4000008: 'Dieser Code stimmt nicht. Bitte gib den ein, den die App jetzt anzeigt.',
    4000010:
      'Diese Adresse ist noch nicht bestätigt. Bitte bestätige sie mit dem Code aus unserer E-Mail.',
    4000011:
      'Für dieses Konto ist keine Authenticator-App eingerichtet. Bitte wähle einen anderen Weg.',
    4000012: 'Dieser Wiederherstellungscode ist schon verbraucht. Bitte nimm einen anderen.',
    4000014:
      'Für dieses Konto gibt es keine Wiederherstellungscodes. Bitte wähle einen anderen Weg.',
    4000016: 'Dieser Wiederherstellungscode stimmt nicht. Bitte prüfe ihn oder nimm einen anderen.',
    4000017: 'Bitte gib höchstens {max_length} Zeichen ein.',
    4000026: 'Das lässt sich nicht lesen. Bitte gib es noch einmal ein.',
    4000027:
      'Diese Anmeldung gehört hier zu einem anderen Konto. Melde dich dort an oder trenne sie zuerst dort.',
    4000028:
      'Zu dieser Adresse gibt es schon ein Konto. Melde dich so an, wie du es bisher getan hast.',
    4000031: 'Dieses Passwort ist deiner Adresse zu ähnlich. Bitte wähle ein anderes.',
    4000032: 'Dieses Passwort ist zu kurz. Bitte nimm mindestens {min_length} Zeichen.',
    4000033: 'Dieses Passwort ist zu lang. Bitte nimm höchstens {max_length} Zeichen.',
    4000034:
      'Dieses Passwort ist in gestohlenen Daten aufgetaucht. Bitte wähle ein anderes, hier und überall, wo du es sonst benutzt.',
    4000035: 'Bei diesem Konto gibt es keine Anmeldung per Code. Bitte wähle einen anderen Weg.',
    4000036:
      'Deine Angaben haben sich geändert, seit der Code verschickt wurde. Bitte fordere einen neuen an.',
    4000037: 'Dieses Konto gibt es nicht. Bitte prüfe die Adresse oder registriere dich.',
    4000039: 'Das ist dein jetziges Passwort. Bitte wähle ein neues.',
    4000040: 'Das sieht nicht nach einer E-Mail-Adresse aus. Bitte prüfe sie.',

    // Whole flows: too old, complete already, or sent without saying what for.
    4010001: 'Die Anmeldung hat zu lange gedauert. Bitte fang noch einmal an.',
    4010002: 'Bitte wähle, wie du dich anmelden möchtest.',
    4010003: 'Bitte wähle, wie du dich registrieren möchtest.',
    4010004: 'Bitte wähle, was du ändern möchtest.',
    4010005: 'Bitte gib deine Adresse ein oder den Code, der dorthin ging.',
    4010006: 'Bitte gib deine Adresse ein oder den Code, der dorthin ging.',
    4010007:
      'Diese Anmeldung ist abgeschlossen. Um dich noch einmal anzumelden, fang bitte von vorn an.',
    4010008:
      'Dieser Code stimmt nicht oder gilt nicht mehr. Prüfe ihn oder fordere einen neuen an.',
    4010011: 'Dieses Konto ist deaktiviert. Bitte wende dich an die Betreiber dieses Dienstes.',
    4040001: 'Die Registrierung hat zu lange gedauert. Bitte fang noch einmal an.',
    4040002: 'Mit diesem Formular ist dein Konto schon angelegt worden. Bitte melde dich an.',
    4040003:
      'Dieser Code stimmt nicht oder gilt nicht mehr. Prüfe ihn oder fordere einen neuen an.',
    4050001: 'Die Einstellungen waren zu lange offen. Bitte öffne sie noch einmal.',
    4060001:
      'Diese Wiederherstellung ist abgeschlossen. Um noch ein Konto wiederherzustellen, fang bitte von vorn an.',
    4060005: 'Die Wiederherstellung hat zu lange gedauert. Bitte fang noch einmal an.',
    4060006:
      'Dieser Code stimmt nicht oder gilt nicht mehr. Prüfe ihn oder fordere einen neuen an.',
    4070002: 'Diese Adresse ist schon bestätigt. Hier gibt es nichts mehr zu tun.',
    4070005: 'Die Bestätigung der Adresse hat zu lange gedauert. Bitte fang noch einmal an.',
    4070006:
      'Dieser Code stimmt nicht oder gilt nicht mehr. Prüfe ihn oder fordere einen neuen an.',

    4900001: 'Zu viele falsche Codes. Bitte fang noch einmal an.',
    4900002: 'Zu viele Versuche. Bitte versuche es in {seconds} noch einmal.',
    4900003:
      'Die Anmeldung bei {provider} wurde abgelehnt oder abgebrochen. Versuche es noch einmal oder wähle einen anderen Weg.',
    4900004:
      'Mit der Antwort von {provider} können wir nichts anfangen. Versuche es noch einmal oder wähle einen anderen Weg.',
    4900005:
      'Zu dieser Adresse gibt es schon ein Konto. Melde dich zuerst dort an und verbinde den Anbieter dann in den Einstellungen.',
    4900006:
      'Dieses Passwort benutzen viele, deshalb ist es schnell erraten. Bitte wähle ein anderes.',
    4900007: 'Wiederherstellungscodes lassen sich nicht noch einmal anzeigen. Bitte erzeuge neue.',
    4900009: 'Dieser Anbieter steht hier nicht zur Wahl. Bitte wähle einen anderen Weg.',
    4900010: 'Diese Adresse hat schon jemand. Bitte wähle eine andere.',
    4900011:
      'Ohne das könntest du dich nicht mehr anmelden. Lege ein Passwort fest oder verbinde ein anderes Konto, dann kannst du es entfernen.',
    4900013:
      'Zu deinem Konto bei {provider} gibt es hier keines. Bitte die, die diesen Dienst betreiben, um eine Einladung.',
    4900014: 'Melde dich zuerst bei diesem Konto an und gib den Code dann noch einmal ein.',
    4900012: 'Dieser Link ist unvollständig. Bitte kopiere ihn ganz aus der E-Mail.',

    5000001: 'Bei uns ist etwas schiefgegangen. Bitte versuche es gleich noch einmal.',
  },

  fields: {
    identifier: 'E-Mail-Adresse',
    email: 'E-Mail-Adresse',
    traits: 'E-Mail-Adresse',
    'traits.email': 'E-Mail-Adresse',
    'traits.display_name': 'Name',
    password: 'Passwort',
    code: 'Code aus der E-Mail',
    totp_code: 'Code aus der App',
    lookup_secret: 'Wiederherstellungscode',
    provider: 'Anbieter',
  },
}
