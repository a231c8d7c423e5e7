import tests from '../playwright.config'

/** As the tests have it, but nothing is tried here: pictures are taken. */
export default { ...tests, testDir: '.', workers: 1, outputDir: '../test-results/screenshots' }
