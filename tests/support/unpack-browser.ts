/** Done once before files run side by side: two of them would unpack it over each other. */
import sparticuz from '@sparticuz/chromium'

await sparticuz.executablePath()
